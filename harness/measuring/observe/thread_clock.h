#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>

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

}  // namespace zerotax
