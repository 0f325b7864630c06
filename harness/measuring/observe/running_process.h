#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace zerotax {

/// Checks that a PID is a running program that can be sampled. Throws UsageError for a thread, a zombie, a kernel
/// thread, zerotax itself, or the machine's init; the init of a container is allowed. Throws MachineError if the
/// process belongs to another user and may not be inspected (may_watch).
void check_process(pid_t pid);

/// Returns a sentence about processes that still run although the watched process, which started them, has ended.
std::string runs_on(const std::vector<pid_t>& processes);

/// Returns whether this process may inspect another process. The other process must have the same user, or this process
/// must be root or have CAP_SYS_PTRACE. `user` is the user of the other process.
bool may_watch(pid_t pid, uid_t user);

/// CPU time of running processes, and of the children that these processes waited for, since construction of this
/// object. For a process that ends, the values of its last reading remain.
class TreeClock {
 public:
  explicit TreeClock(const std::vector<pid_t>& processes);
  /// Adds a process that started after construction, with all its CPU time. If `ran_before`, only the process's CPU
  /// time from now on counts.
  void add(pid_t process, bool ran_before = false);
  void look();

  [[nodiscard]] double user_s() const;
  [[nodiscard]] double system_s() const;
  /// Returns the number of minor and major page faults.
  [[nodiscard]] std::uint64_t faults() const { return sum_faults(&Times::faults, &Times::children_faults); }
  [[nodiscard]] std::uint64_t minor_faults() const {
    return sum_faults(&Times::minor_faults, &Times::children_minor_faults);
  }

 private:
  struct Times {
    std::int64_t cpu_ns = 0;   ///< exact CPU time of its threads
    std::int64_t user_ns = 0;  ///< time counted in clock ticks
    std::int64_t system_ns = 0;
    std::int64_t children_user_ns = 0;
    std::int64_t children_system_ns = 0;
    std::uint64_t faults = 0;
    std::uint64_t children_faults = 0;
    std::uint64_t minor_faults = 0;
    std::uint64_t children_minor_faults = 0;
    pid_t parent = 0;
  };
  struct Watched {
    pid_t pid;
    Times first;
    Times last;
    bool ended = false;
  };
  static bool read(pid_t pid, Times& times);
  /// Returns whether a process has ended, and a watched parent has waited for it and now counts its CPU time.
  [[nodiscard]] bool is_parents(const Watched& process) const;
  [[nodiscard]] double sum_s(bool user) const;
  [[nodiscard]] std::uint64_t sum_faults(std::uint64_t Times::*own, std::uint64_t Times::*children) const;

  std::vector<Watched> processes_;
  std::set<pid_t> watched_;
};

}  // namespace zerotax
