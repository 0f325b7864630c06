#pragma once

#include <string>
#include <vector>

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

}  // namespace zerotax
