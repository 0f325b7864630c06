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
  std::string path;         ///< relative to the mount point of the hierarchy
};

/// Skips malformed lines (cgroups(7), /proc/pid/cgroup).
std::vector<CgroupLine> parse_cgroup_lines(const std::string& text);

/// Returns the path of the control group that limits a process's memory, given the text of the process's
/// /proc/PID/cgroup. Uses the memory controller of version 1 if there is one, else version 2. Returns "" if there is no
/// group.
std::string memory_cgroup(const std::string& text);

/// A control group, identified by its folder.
struct CgroupFolder {
  std::string path;              ///< path in /proc/PID/cgroup: "/system.slice/redis.service"
  std::string folder;            ///< "/sys/fs/cgroup/system.slice/redis.service"
  bool has_perf_events = false;  ///< whether the group is in the hierarchy of perf events: version 2, unless version 1
                                 ///< has perf_event
};

/// Finds a control group by one of three texts: its path within a hierarchy, its line in /proc/PID/cgroup, or its
/// folder. Among several hierarchies (version 1), the hierarchy of perf events comes first. Returns nothing if the
/// group does not exist. `mounts` is the text of /proc/self/mounts.
std::optional<CgroupFolder> find_cgroup(const std::string& name, const std::string& mounts);
std::optional<CgroupFolder> find_cgroup(const std::string& name);

/// Returns the processes in a group and in the groups below it, from cgroup.procs.
std::vector<pid_t> cgroup_processes(const std::string& folder);

struct CgroupTime {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
};
/// Returns the CPU time of all processes that ever ran in the group, from cpu.stat of version 2, which needs no
/// controller. Returns nothing for a group of version 1.
std::optional<CgroupTime> cgroup_time(const std::string& folder);

/// The time for which a CPU quota stopped a process's control group, or a group above it. Times are summed over the
/// CPUs and all members of the group. Source: cpu.stat (Documentation/admin-guide/cgroup-v2.rst;
/// Documentation/scheduler/sched-bwc.rst for version 1).
class Throttling {
 public:
  /// Counts from now on, in the control group of `process` and in all groups above it.
  explicit Throttling(pid_t process);

  /// Returns the longest time, in nanoseconds, for which any of these groups was stopped since construction.
  [[nodiscard]] Measured<std::uint64_t> since() const;

 private:
  struct Group {
    std::string file;
    std::uint64_t before_ns = 0;
  };
  std::vector<Group> groups_;
};

/// Returns the throttled nanoseconds in the text of a cpu.stat. Returns 0 if the text lists no throttling, as in a
/// group without the controller.
std::uint64_t parse_throttled_ns(const std::string& text);

}  // namespace zerotax
