#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

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

}  // namespace zerotax
