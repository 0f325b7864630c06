#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax::record {

/// Reads memory of this process by the kernel: false where nothing is mapped, or only a device, or no right to read.
bool read_own(std::uint64_t address, void* to, std::size_t bytes);

/// The words of a thread's stack, from its stack pointer on. Whatever a register or a rule of call frame information
/// says, nothing else is read.
class StackMemory {
 public:
  /// No stack frame is larger than the usual limit of a whole stack.
  static constexpr std::uint64_t kFarthest = std::uint64_t{8} << 20;

  /// The stack pointer of the frame that is looked at.
  void move_to(std::uint64_t stack_pointer) { begin_ = stack_pointer; }
  [[nodiscard]] bool reaches(std::uint64_t address) const { return address - begin_ <= kFarthest; }

  bool read(std::uint64_t address, std::uint64_t& word);

 private:
  static constexpr std::uint64_t kWindowBytes = 1024;

  std::uint64_t begin_ = 0;
  std::uint64_t window_ = 1;  ///< where the words that are kept lie; no such address: none are
  std::uint64_t words_[kWindowBytes / sizeof(std::uint64_t)];
};

}  // namespace zerotax::record
