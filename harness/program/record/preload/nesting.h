#pragma once

#include <cstdint>

#include "os/page.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/state.h"

namespace zerotax::record {

// A thread may call a function of ours before its earlier call, or our own work, has returned, for three reasons:
// - The allocator calls the function.
// - A signal handler interrupted the earlier call.
// - The earlier call never returns, because siglongjmp, an exception or a switch of stacks left its frame.
// ThreadState::mark, which lies in the frame of the earlier call, tells these reasons apart.

/// The place from which a function of ours was called.
struct CalledFrom {
  std::uintptr_t frame;  ///< the stack pointer before the call
  const void* caller;
};

[[gnu::always_inline]] inline CalledFrom called_from() {
  return {reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()), __builtin_return_address(0)};
}

/// Least size of the frame that the kernel puts onto a stack for a signal handler: the red zone, 440 bytes of
/// registers, and 512 bytes of the floating-point unit. More on arm64. Source: struct rt_sigframe in
/// arch/x86/include/asm/sigframe.h.
inline constexpr std::uintptr_t kLeastSignalFrame = 1024;

/// Whether `trusted` code called so near below the mark that no signal came in between.
inline bool is_just_within(const ThreadState& thread, CalledFrom from, AddressRange trusted) {
  return thread.mark - from.frame < kLeastSignalFrame && lies_in(trusted, from.caller);
}

/// The beginning of a call while the thread may not count (!ready). `trusted`: code that calls the function only as
/// part of an earlier call.
class Arrival {
 public:
  Arrival(ThreadState& thread, CalledFrom from, AddressRange trusted);
  ~Arrival();
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  /// Whether the thread may count the call: the program made it, not the allocator or our own work.
  [[nodiscard]] bool counts() const { return counts_; }

 private:
  ThreadState& thread_;
  bool counts_ = false;
  bool interrupts_ = false;  ///< the call interrupts an earlier one, which is kept here
  bool eventful_;
  bool in_allocator_;
  Call now_;
  std::uintptr_t mark_;
  std::uint64_t grown_bytes_;
  CallFigures call_;
};

/// Calls counted() if the call counts, else plain().
template <typename Counted, typename Plain>
[[gnu::noinline, gnu::cold]] auto apart(ThreadState& thread, CalledFrom from, Counted counted, Plain plain) {
  const Arrival arrival(thread, from, allocator_code);
  return arrival.counts() ? counted() : plain();
}

}  // namespace zerotax::record
