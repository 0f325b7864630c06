#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "files/results.h"

namespace zerotax::fleet {

/// The environments of hosts, by their names.
using Hosts = std::map<std::string, Environment>;

/// Returns the name of this host: in a task, the name of Slurm's node (SLURMD_NODENAME), and otherwise the name from
/// uname(2).
std::string host_name();

/// Returns why times of two hosts may not be compared, such as "cpu: A and B; thp: madvise and never". Returns "" if
/// both hosts have the same kernel, CPU model, setting of transparent huge pages and page size.
std::string unlike_hosts(const Environment& one, const Environment& other);

/// Returns whether other processes used the machine more under the first load than under the second.
bool is_worse_load(const Load& one, const Load& other);

/// Combines the loads of a run's hosts to the load of the worst host, with a sentence about all hosts. Returns nothing
/// if there are no hosts.
std::optional<Load> load_of_hosts(const std::map<std::string, Load>& loads);

/// Returns the largest set of hosts with comparable times (unlike_hosts), by number of points. Of equally large sets,
/// the set with the host that is first by name is returned. Returns nothing if there are no hosts.
std::optional<ComparableTimes> comparable_times(const std::vector<Point>& points, const Hosts& hosts);

/// Removes the times of points from hosts whose times cannot be compared. The times become n/a with the reason, and
/// counts remain. Returns the number of points without times.
std::size_t leave_out_times(const std::optional<ComparableTimes>& comparable, std::vector<Point>& points);

/// Returns a sentence such as "Times of 12 points are left out: they were measured on n2, ..."; empty if no points are
/// left out.
std::string left_out_text(const std::optional<ComparableTimes>& comparable, std::size_t points);

}  // namespace zerotax::fleet
