#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/measured.h"

namespace zerotax {

/// A line of /proc/self/cgroup, such as "0::/path" (version 2) or "4:cpu,cpuacct:/path" (version 1).
struct CgroupLine {
  std::string controllers;  ///< separated by commas; empty for version 2
  std::string path;         ///< below where the hierarchy is mounted
};

/// Malformed lines are left out (cgroups(7), /proc/pid/cgroup).
std::vector<CgroupLine> parse_cgroup_lines(const std::string& text);

/// The path of the control group that limits a process's memory, by the text of its /proc/PID/cgroup: of version 1 that
/// of the memory controller, else the one of version 2. Empty if there is none.
std::string memory_cgroup(const std::string& text);

/// A control group, by its folder.
struct CgroupFolder {
  std::string path;              ///< as /proc/PID/cgroup has it: "/system.slice/redis.service"
  std::string folder;            ///< "/sys/fs/cgroup/system.slice/redis.service"
  bool has_perf_events = false;  ///< it lies in the hierarchy of perf_event: version 2, unless version 1 has one
};

/// By its path below where a hierarchy is mounted, by its line in /proc/PID/cgroup, or by its folder. Of several
/// hierarchies (version 1), that of perf events first. Nothing if there is none. `mounts`: of /proc/self/mounts.
std::optional<CgroupFolder> find_cgroup(const std::string& name, const std::string& mounts);
std::optional<CgroupFolder> find_cgroup(const std::string& name);

/// The processes in it, and in the groups below it: cgroup.procs.
std::vector<pid_t> cgroup_processes(const std::string& folder);

struct CgroupTime {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
};
/// The CPU time of all that ever ran in it: cpu.stat of version 2, which needs no controller. Nothing of another.
std::optional<CgroupTime> cgroup_time(const std::string& folder);

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
