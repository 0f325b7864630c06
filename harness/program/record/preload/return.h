#pragma once

#include <cstdint>
#include <optional>

#include "os/page.h"
#include "os/pagemap.h"
#include "record/preload/arena.h"
#include "record/preload/nesting.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// A call of a function that changes mappings, made by the allocator within a call of it, by the program, or by a
/// signal handler that interrupted either.
class Watched {
 public:
  explicit Watched(CalledFrom from);

  ThreadState& thread;
  bool counts = false;  ///< false: what the call returns is attributed to nobody

 private:
  std::optional<Arrival> arrival_;
};

/// Where the thread is: a call that is over leaves its mark behind.
inline Inside place_of(const ThreadState& thread) {
  return thread.armed != nullptr ? Inside::kProgram : thread.now.inside;
}

ReturnCause cause_of(const ThreadState& thread, const void* caller);

/// What a system call returns to the kernel, if it succeeds. A heap can be trimmed page by page, ten thousand times a
/// second: after a hundred small returns of a thread, one in each 32 is looked at, and stands for 32. It is chosen at
/// random: a program has loops of 32, too.
class Return {
 public:
  Return(ThreadState& thread, AddressRange range, Mechanism mechanism, const void* caller);

  void done(bool succeeded);

 private:
  struct Clocks {
    std::int64_t ns;
    std::int64_t cpu_ns;
  };
  static Clocks now();
  void look();
  void note();
  [[nodiscard]] std::uint64_t weight_of_small(std::uint64_t bytes) const;
  void note_small();
  void note_own(Clocks from, Clocks to);

  ThreadState& thread_;
  AddressRange range_;
  Mechanism mechanism_;
  ReturnCause cause_;
  std::uint64_t weight_ = 1;  ///< how many returns this one stands for; 0: it is not looked at
  Pagemap::Anonymous found_;
  Clocks began_{};
};

}  // namespace zerotax::record
