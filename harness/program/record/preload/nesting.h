#pragma once

#include <cstdint>

#include "os/page.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/state.h"

namespace zerotax::record {

// A thread may call a function of the recorder before its earlier call, or the recorder's own work, has returned. There
// are three possible reasons:
// - The allocator called the function.
// - A signal handler interrupted the earlier call.
// - The earlier call will never return, because siglongjmp, an exception or a switch of stacks left its frame.
// ThreadState::mark, which lies in the frame of the earlier call, distinguishes these reasons.

/// The place from which a function of the recorder was called.
struct CalledFrom {
  std::uintptr_t frame;  ///< stack pointer before the call
  const void* caller;
};

[[gnu::always_inline]] inline CalledFrom called_from() {
  return {reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()), __builtin_return_address(0)};
}

/// Minimum size of a signal handler's frame. The kernel skips the red zone (128 bytes), then pushes 440 bytes of
/// registers and 512 bytes of floating-point state (more on arm64). Source: struct rt_sigframe in
/// arch/x86/include/asm/sigframe.h.
inline constexpr std::uintptr_t kLeastSignalFrame = 1024;

/// Whether `trusted` code made the call, and no signal handler's frame fits between the call and the mark.
inline bool is_just_within(const ThreadState& thread, CalledFrom from, AddressRange trusted) {
  return thread.mark - from.frame < kLeastSignalFrame && lies_in(trusted, from.caller);
}

/// An object of this class lives during a call in a thread that is not ready(). `trusted`: code that calls recorder
/// functions only as part of an earlier call.
class Arrival {
 public:
  Arrival(ThreadState& thread, CalledFrom from, AddressRange trusted);
  ~Arrival();
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  /// Whether the thread may count the call. Calls by the program count; calls by the allocator or by the recorder's own
  /// work do not.
  [[nodiscard]] bool counts() const { return counts_; }

 private:
  ThreadState& thread_;
  bool counts_ = false;
  bool interrupts_ = false;  ///< whether the call interrupts an earlier call, whose state the following members keep
  bool eventful_;
  bool in_allocator_;
  Call now_;
  std::uintptr_t mark_;
  std::uint64_t grown_bytes_;
  CallFigures call_;
};

/// Runs counted() if zerotax counts this call to the allocator, otherwise plain().
template <typename Counted, typename Plain>
[[gnu::noinline, gnu::cold]] auto apart(ThreadState& thread, CalledFrom from, Counted counted, Plain plain) {
  const Arrival arrival(thread, from, allocator_code);
  return arrival.counts() ? counted() : plain();
}

}  // namespace zerotax::record
