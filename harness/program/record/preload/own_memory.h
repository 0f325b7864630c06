#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax::record {

/// Copies memory of this process with a system call. Returns false if the memory is not mapped, not readable, or
/// belongs to a device.
bool read_own(std::uint64_t address, void* to, std::size_t bytes);

/// Finds the stack of the first thread. Call this once, before the functions below.
void find_first_stack();

/// Whether `place` lies on the first thread's stack, above `here`, an address in use. Such memory is certain to be
/// readable. The stack reaches up to the random bytes that the kernel puts on it (AT_RANDOM).
bool is_on_first_stack(std::uintptr_t here, std::uintptr_t place);

/// Reads words of a thread's stack, from the stack pointer on. No other memory is read, even if a register or a rule of
/// call frame information points elsewhere.
class StackMemory {
 public:
  /// Maximum distance from the stack pointer, because no stack frame is larger than the usual limit of a whole stack.
  static constexpr std::uint64_t kFarthest = std::uint64_t{8} << 20;

  StackMemory() = default;
  /// `in_use` is an address in use on the thread's stack. On the first thread's stack, words above `in_use` are read
  /// without a system call.
  explicit StackMemory(std::uint64_t in_use) : in_use_(in_use) {}

  /// Sets the lowest address that may be read: the stack pointer of the current frame.
  void move_to(std::uint64_t stack_pointer) { begin_ = stack_pointer; }
  [[nodiscard]] bool reaches(std::uint64_t address) const { return address - begin_ <= kFarthest; }

  bool read(std::uint64_t address, std::uint64_t& word);

 private:
  static constexpr std::uint64_t kWindowBytes = 1024;

  std::uint64_t in_use_ = ~std::uint64_t{0};
  std::uint64_t begin_ = 0;
  std::uint64_t window_ = 1;  ///< address of the kept words; 1: no words are kept
  std::uint64_t words_[kWindowBytes / sizeof(std::uint64_t)];
};

}  // namespace zerotax::record
