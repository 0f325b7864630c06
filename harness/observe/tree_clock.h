#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace zerotax {

/// The CPU time that some running processes, and the children that they wait for, use from its construction on. A
/// process that ends keeps what it had at the last look.
class TreeClock {
 public:
  explicit TreeClock(const std::vector<pid_t>& processes);
  /// A process that one of them started meanwhile: all that it used counts.
  void add(pid_t process);
  void look();

  [[nodiscard]] double user_s() const;
  [[nodiscard]] double system_s() const;
  /// Minor and major page faults.
  [[nodiscard]] std::uint64_t faults() const;

 private:
  struct Times {
    std::int64_t cpu_ns = 0;   ///< of its threads, exactly
    std::int64_t user_ns = 0;  ///< by ticks
    std::int64_t system_ns = 0;
    std::int64_t children_user_ns = 0;
    std::int64_t children_system_ns = 0;
    std::uint64_t faults = 0;
    std::uint64_t children_faults = 0;
  };
  struct Watched {
    pid_t pid;
    Times first;
    Times last;
    bool ended = false;
  };
  static bool read(pid_t pid, Times& times);
  [[nodiscard]] double sum_s(bool user) const;

  std::vector<Watched> processes_;
};

}  // namespace zerotax
