#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "observe/frame.h"
#include "observe/unwinder.h"
#include "os/process_info.h"

namespace zerotax {

/// The CPU time and page faults of threads while they are watched, by the kernel's own account: what samples in user
/// mode cannot show. A thread that ends keeps what it had at the last look.
class ThreadClock {
 public:
  using ThreadId = std::pair<std::uint32_t, std::uint32_t>;  ///< process and thread

  /// A process that runs already: what its threads have used so far is not counted.
  void begin(pid_t process);
  /// Reads what its threads have used by now. All use of a new thread counts.
  void look(pid_t process);

  /// What a thread used; nothing if it was never met.
  [[nodiscard]] ThreadTimes used(const ThreadId& thread) const;
  [[nodiscard]] std::map<ThreadId, ThreadTimes> used() const;

 private:
  struct Watched {
    ThreadTimes first;
    ThreadTimes last;
  };
  std::map<ThreadId, Watched> threads_;
};

/// Tells the unwinder what a running process has mapped to be executed.
void map_process(pid_t process, Unwinder& unwinder);

/// Looks at every thread of a process, running or blocked, from outside: nothing is stopped, traced or written, so that
/// it makes no difference to the program, whatever becomes of us. What a blocked thread waits for, and its stack and
/// program counter, are read from /proc; its stack from its memory. Registers that the C library has not put there are
/// not known: a function that is found by its frame pointer alone may end the stack (observe/unwinder.h).
class WallSampler {
 public:
  explicit WallSampler(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {}

  struct Visitor {
    std::function<void(pid_t thread)> running;
    /// Outermost frame first, the kernel's last.
    std::function<void(pid_t thread, const Stack& stack)> blocked;
  };
  void look(pid_t process, Unwinder& unwinder, const Visitor& visitor);

  /// Threads that may not be looked at were met.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  /// A thread that still waits where it was found before need not be unwound again.
  struct Known {
    std::string line;
    std::vector<unsigned char> memory;
    Stack stack;
    std::uint64_t changes = 0;  ///< of what was mapped
    std::uint64_t seen = 0;     ///< at this look
  };

  void forget_ended();

  std::size_t stack_bytes_;
  std::map<pid_t, Known> known_;
  std::uint64_t looks_ = 0;
  bool refused_ = false;
};

}  // namespace zerotax
