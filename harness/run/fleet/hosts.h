#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "point/typed_point.h"

namespace zerotax::fleet {

/// The environments of hosts (describe_environment) by their names.
using Hosts = std::map<std::string, Json>;

/// The name of this host: that of Slurm's node in a task (SLURMD_NODENAME), else that of uname.
std::string host_name();

/// Why times of two hosts may not be compared: "cpu: A and B; thp: madvise and never". Empty for hosts that are alike:
/// the same kernel, CPU model, setting of transparent huge pages and page size.
std::string unlike_hosts(const Json& one, const Json& other);

/// Whether others did more beside a measurement under the first load (os/load.h) than beside one under the second.
bool is_worse_load(const Json& one, const Json& other);

/// The load of a run from those of its hosts, by name: that of the worst, with a sentence about all. Null if there are
/// no hosts.
Json load_of_hosts(const std::map<std::string, Json>& loads);

/// Which hosts' times may be compared with each other: {"hosts": [...], "left_out": {HOST: why}}. Those are the hosts
/// that are like the one of the most points; of equals, the first by name. Null if there are no hosts.
Json comparable_times(const std::vector<Json>& points, const Hosts& hosts);

/// Takes away the times of points whose host is left out by such an object, which may be null: they become n/a, with
/// the reason. What is counted stays. Returns how many points lost their times.
std::size_t leave_out_times(const Json& comparable, std::vector<Point>& points);

/// "Times of 12 points are left out: they were measured on n2, ..."; empty if none are.
std::string left_out_text(const Json& comparable, std::size_t points);

}  // namespace zerotax::fleet
