#pragma once

#include <cstdint>
#include <optional>

#include "os/page.h"
#include "os/pagemap.h"
#include "record/preload/arena.h"
#include "record/preload/nesting.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// A call to a function that changes mappings. The caller is the program, the allocator within one of its calls, or a
/// signal handler that interrupted either of the two.
class Watched {
 public:
  explicit Watched(CalledFrom from);

  ThreadState& thread;
  bool counts = false;  ///< false: the bytes that the call returns are not attributed

 private:
  std::optional<Arrival> arrival_;
};

/// Returns the kind of function that the thread is in. `now` alone is not enough, because `now` keeps its last value
/// after a call has ended.
inline Inside place_of(const ThreadState& thread) {
  return thread.armed != nullptr ? Inside::kProgram : thread.now.inside;
}

ReturnCause cause_of(const ThreadState& thread, const void* caller);

/// The memory that a system call returns to the kernel, if the call succeeds. A heap can be trimmed page by page, ten
/// thousand times a second. Therefore, after a thread's first 128 small returns, one in 32 is examined and stands for
/// 32. The examined return is chosen at random, because a program may also have loops of 32.
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
  std::uint64_t weight_ = 1;  ///< number of returns for which this return stands; 0: this return is not examined
  Pagemap::Anonymous found_;
  Clocks began_{};
};

}  // namespace zerotax::record
