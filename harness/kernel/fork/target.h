#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "fork/process/fork_run.h"
#include "os/unique_fd.h"

namespace zerotax::fork {

/// The memory and other resources that the forking process acquires beyond its needs (fork/process/main.cc).
struct ForkTargetSize {
  std::uint64_t populated_bytes = 0;
  std::string kind = "private";  ///< one of private, huge, shared, dontfork
  std::uint64_t mappings = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;
};

struct ForkTargetFacts {
  RESULT("facts", "Pages and other resources of a process, as reported by the kernel.");
  FIELD(std::uint64_t, pages,
        "Number of private anonymous pages, of page_bytes of the environment (/proc/PID/smaps_rollup).");
  FIELD(std::uint64_t, huge_pages, "Number of huge pages of 2 MiB.");
  FIELD(std::uint64_t, mappings, "Number of mappings (lines of /proc/PID/maps).");
  FIELD(std::uint64_t, descriptors, "Number of open descriptors.");
  FIELD(std::uint64_t, threads, "Number of threads.");
};

/// The target's answer to one request. Times are in nanoseconds, one for each child.
struct ForkTimes {
  std::vector<double> call_ns;  ///< time of clone(2) or posix_spawn(3) in the parent
  std::vector<double> gone_ns;  ///< time from the beginning of the call until the parent has waited for the child
};

/// The process libexec/fork-target, which forks on request. The process is as small as possible, or as large as
/// requested. The destructor kills the process.
class ForkTarget {
 public:
  /// Starts a process with these resources. Throws MachineError if the process cannot be started, or if the machine
  /// cannot provide the resources. Throws Stop if a signal asked to stop.
  explicit ForkTarget(const ForkTargetSize& size);
  ~ForkTarget();
  ForkTarget(const ForkTarget&) = delete;
  ForkTarget& operator=(const ForkTarget&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const ForkTargetFacts& facts() const { return facts_; }

  /// Makes `forks` children (kMostForks at most) with clone(2), these flags and SIGCHLD. Each child has ended before
  /// the next is made. Throws MachineError with the kernel's reason if a call fails.
  ForkTimes clone(std::uint32_t forks, std::uint64_t flags = 0) { return run(forks, flags, ForkMethod::kClone); }
  /// Makes children with posix_spawn(3) of the target itself.
  ForkTimes spawn(std::uint32_t forks) { return run(forks, 0, ForkMethod::kSpawn); }
  /// Makes clone(2) calls that the kernel refuses at once, to measure the cost of entering and leaving the kernel.
  ForkTimes refused(std::uint32_t times) { return run(times, 0, ForkMethod::kRefused); }

 private:
  void wait_for(const std::string& word);
  ForkTimes run(std::uint32_t forks, std::uint64_t flags, ForkMethod method);
  void read_facts();
  void kill();

  pid_t pid_ = -1;
  UniqueFd to_;
  UniqueFd from_;
  ForkRun* record_ = nullptr;
  ForkTargetFacts facts_;
};

}  // namespace zerotax::fork
