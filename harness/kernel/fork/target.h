#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fork/process/fork_run.h"
#include "os/unique_fd.h"

namespace zerotax::fork {

/// The memory and other resources that the forking process gets beyond what it needs (fork/process/main.cc).
struct ForkTargetSize {
  std::uint64_t populated_bytes = 0;
  std::string kind = "private";  ///< one of private, huge, shared, dontfork
  std::uint64_t mappings = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;
};

/// What it has, according to the kernel.
struct ForkTargetFacts {
  std::uint64_t pages = 0;       ///< private anonymous pages (smaps_rollup)
  std::uint64_t huge_pages = 0;  ///< huge_page_bytes() each
  std::uint64_t mappings = 0;    ///< lines of its maps
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;
};

/// What it did for one request. Times in nanoseconds, one for each child.
struct ForkTimes {
  std::vector<double> call_ns;  ///< clone(2) or posix_spawn(3), in the parent
  std::vector<double> gone_ns;  ///< from its beginning until the child was waited for
};

/// The process libexec/fork-target, which forks on request. It is as small as possible, or as large as requested. It is
/// killed when this object ends.
class ForkTarget {
 public:
  /// Starts one. Throws MachineError if it cannot be started, or the machine cannot give it what it is to have; Stop if
  /// a signal asked for an end.
  explicit ForkTarget(const ForkTargetSize& size);
  ~ForkTarget();
  ForkTarget(const ForkTarget&) = delete;
  ForkTarget& operator=(const ForkTarget&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const ForkTargetFacts& facts() const { return facts_; }

  /// Makes `forks` children (kMostForks at most), one after the other, each gone before the next, by clone(2) with
  /// these flags beside SIGCHLD. Throws MachineError with the kernel's reason if one fails.
  ForkTimes clone(std::uint32_t forks, std::uint64_t flags = 0) { return run(forks, flags, ForkMethod::kClone); }
  /// The same by posix_spawn(3) of the target itself.
  ForkTimes spawn(std::uint32_t forks) { return run(forks, 0, ForkMethod::kSpawn); }
  /// A clone(2) that is refused at once: the cost of entering and leaving the kernel.
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
