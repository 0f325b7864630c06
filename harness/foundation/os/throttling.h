#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/measured.h"

namespace zerotax {

/// The time for which a CPU quota stopped a process's control group, or one above it: a sum over CPUs and all members
/// of the group. Source: cpu.stat (Documentation/admin-guide/cgroup-v2.rst; Documentation/scheduler/sched-bwc.rst for
/// version 1).
class Throttling {
 public:
  /// Counts from now on.
  explicit Throttling(pid_t process);

  /// Nanoseconds since the construction, of the group that was stopped longest.
  [[nodiscard]] Measured<std::uint64_t> since() const;

 private:
  struct Group {
    std::string file;
    std::uint64_t before_ns = 0;
  };
  std::vector<Group> groups_;
};

/// The throttled nanoseconds in a cpu.stat; 0 if it lists no throttling, as in a group without the controller.
std::uint64_t parse_throttled_ns(const std::string& text);

}  // namespace zerotax
