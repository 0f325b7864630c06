#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace zerotax {

/// Throws UsageError unless it is a running program that can be sampled: not a thread, a zombie, the kernel's,
/// ourselves, or the machine's init (that of a container is a program). MachineError if it is another user's, and we
/// may not look at it (may_watch).
void check_process(pid_t pid);

/// A sentence about processes that still run after the end of the watched process, which started them.
std::string runs_on(const std::vector<pid_t>& processes);

/// Whether this process may look at another one: the process is of our user, or we are root, or have CAP_SYS_PTRACE.
/// `user`: the user of that process.
bool may_watch(pid_t pid, uid_t user);

/// The CPU time that some running processes, and the children that they wait for, use from its construction on. A
/// process that ends keeps what it had at the last look.
class TreeClock {
 public:
  explicit TreeClock(const std::vector<pid_t>& processes);
  /// A process that was started meanwhile: all that it used counts. `ran_before`: only what it uses from now on.
  void add(pid_t process, bool ran_before = false);
  void look();

  [[nodiscard]] double user_s() const;
  [[nodiscard]] double system_s() const;
  /// Minor and major page faults.
  [[nodiscard]] std::uint64_t faults() const { return sum_faults(&Times::faults, &Times::children_faults); }
  [[nodiscard]] std::uint64_t minor_faults() const {
    return sum_faults(&Times::minor_faults, &Times::children_minor_faults);
  }

 private:
  struct Times {
    std::int64_t cpu_ns = 0;   ///< of its threads, exactly
    std::int64_t user_ns = 0;  ///< by ticks
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
  /// It has ended, and its parent, which is watched, has it among its children: all of it.
  [[nodiscard]] bool is_parents(const Watched& process) const;
  [[nodiscard]] double sum_s(bool user) const;
  [[nodiscard]] std::uint64_t sum_faults(std::uint64_t Times::*own, std::uint64_t Times::*children) const;

  std::vector<Watched> processes_;
  std::set<pid_t> watched_;
};

}  // namespace zerotax
