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

/// CPU time and page faults of threads while they are watched, from the kernel's accounts. Samples in user mode show
/// neither kernel time nor page faults. For a thread that ends, the values of its last reading remain.
class ThreadClock {
 public:
  using ThreadId = std::pair<std::uint32_t, std::uint32_t>;  ///< process and thread IDs

  /// Adds a running process. CPU time and faults of the process's threads before this call are not counted.
  void begin(pid_t process);
  /// Reads the CPU time and faults of the process's threads so far. For a new thread, CPU time and faults count from
  /// the thread's start.
  void look(pid_t process);

  /// Returns the CPU time and faults of a thread; zeros if the thread was never found.
  [[nodiscard]] ThreadTimes used(const ThreadId& thread) const;
  [[nodiscard]] std::map<ThreadId, ThreadTimes> used() const;

 private:
  struct Watched {
    ThreadTimes first;
    ThreadTimes last;
  };
  std::map<ThreadId, Watched> threads_;
};

/// Adds the executable mappings of a running process to the unwinder.
void map_process(pid_t process, Unwinder& unwinder);

/// Samples every thread of another process, running or blocked. The process is not stopped, traced or written to, so it
/// is unaffected even if zerotax is killed. For a blocked thread, /proc shows the event that the thread waits for, the
/// stack pointer and the program counter. The stack is read from the process's memory. Registers that the C library has
/// not stored on the stack are unknown. The stack may therefore end at a function that can be unwound only by its frame
/// pointer (observe/unwinder.h).
class WallSampler {
 public:
  explicit WallSampler(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {}

  struct Visitor {
    std::function<void(pid_t thread)> running;
    /// Called with frames from outermost to innermost; the kernel's frames come last.
    std::function<void(pid_t thread, const Stack& stack)> blocked;
  };
  void look(pid_t process, Unwinder& unwinder, const Visitor& visitor);

  /// Returns whether some threads could not be inspected.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  /// The last result for a thread. The thread is not unwound again while it waits in the same place.
  struct Known {
    std::string line;
    std::vector<unsigned char> memory;
    Stack stack;
    std::uint64_t changes = 0;  ///< Unwinder::changes() when the stack was unwound
    std::uint64_t seen = 0;     ///< number of the last round that found the thread
  };

  void forget_ended();

  std::size_t stack_bytes_;
  std::map<pid_t, Known> known_;
  std::uint64_t looks_ = 0;
  bool refused_ = false;
};

}  // namespace zerotax
