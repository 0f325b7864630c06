#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "files/results.h"

namespace zerotax::fleet {

/// The environments of hosts by their names.
using Hosts = std::map<std::string, Environment>;

/// The name of this host: that of Slurm's node in a task (SLURMD_NODENAME), else that of uname.
std::string host_name();

/// Why times of two hosts may not be compared: "cpu: A and B; thp: madvise and never". Empty for hosts that are alike:
/// the same kernel, CPU model, setting of transparent huge pages and page size.
std::string unlike_hosts(const Environment& one, const Environment& other);

/// Whether others did more beside a measurement under the first load than beside one under the second.
bool is_worse_load(const Load& one, const Load& other);

/// The load of a run from those of its hosts, by name: that of the worst, with a sentence about all. Nothing if there
/// are no hosts.
std::optional<Load> load_of_hosts(const std::map<std::string, Load>& loads);

/// The hosts that are like the one of the most points; of equals, the first by name. Nothing if there are no hosts.
std::optional<ComparableTimes> comparable_times(const std::vector<Point>& points, const Hosts& hosts);

/// Takes away the times of points whose host is left out: they become n/a, with the reason. What is counted stays.
/// Returns how many points lost their times.
std::size_t leave_out_times(const std::optional<ComparableTimes>& comparable, std::vector<Point>& points);

/// "Times of 12 points are left out: they were measured on n2, ..."; empty if none are.
std::string left_out_text(const std::optional<ComparableTimes>& comparable, std::size_t points);

}  // namespace zerotax::fleet
