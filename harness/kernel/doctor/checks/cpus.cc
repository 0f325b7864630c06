#include <fmt/format.h>

#include <sstream>

#include "doctor/cgroup.h"
#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

Finding look_at_cpus(const Machine& machine) {
  const auto allowed = machine.field("/proc/self/status", "Cpus_allowed_list");
  if (!allowed) return unknown("/proc/self/status does not name the CPUs allowed");
  const Reading online = machine.line("/sys/devices/system/cpu/online");
  const std::size_t count = count_of_list(*allowed);
  std::string state = fmt::format("{} ({})", count, *allowed);
  if (online && count_of_list(*online.text) > count) state += fmt::format(" of {}", count_of_list(*online.text));
  if (count >= 2) return {state, Weight::kOk, "", ""};
  return {state, Weight::kNote,
          "every command: zerotax and what it measures take turns on one CPU; audits run one by one, and cow may lose "
          "events",
          "taskset -c 0-1 zerotax …"};
}
const Check cpus(Topic::kCpu, "CPUs allowed", look_at_cpus);

/// The number of CPUs that a quota allows; 0: no quota. Version 2: "max 100000" or "150000 100000" (microseconds of a
/// period).
double quota_v2(const std::string& line) {
  std::istringstream words(line);
  double quota = 0;
  double period = 100'000;
  if (!(words >> quota)) return 0;
  words >> period;
  return period > 0 ? quota / period : 0;
}

Finding look_at_quota(const Machine& machine) {
  double tightest = 0;
  std::string path;
  const auto consider = [&](double found, const std::string& of) {
    if (found <= 0 || (tightest > 0 && found >= tightest)) return;
    tightest = found;
    path = of;
  };
  const auto v2 = cgroup_files(machine, "cpu", "cpu.max", "");
  const auto v1 = cgroup_files(machine, "cpu", "", "cpu.cfs_quota_us");
  for (const CgroupFile& file : v2) consider(quota_v2(file.text), file.path);
  for (const CgroupFile& file : v1) {
    const std::string folder = file.path.substr(0, file.path.rfind('/'));
    const auto period = machine.number(folder + "/cpu.cfs_period_us");
    const auto quota = machine.number(file.path);
    if (quota && period && *period > 0) {
      consider(static_cast<double>(*quota) / static_cast<double>(*period), file.path);
    }
  }
  if (tightest == 0 && v1.empty() && v2.empty()) return {"none", Weight::kOk, "", ""};
  if (tightest == 0) return {"none is set", Weight::kOk, "", ""};
  const bool tight = tightest < static_cast<double>(machine.allowed_cpus());
  return {fmt::format("{:.2f} CPUs ({})", tightest, path), tight ? Weight::kSpoils : Weight::kOk,
          tight ? "all times: once the quota of a period is used up, the process stands still until the next one" : "",
          tight ? fmt::format("echo {} > {}", path.ends_with("cpu.max") ? "max" : "-1", path) : ""};
}
const Check quota(Topic::kCpu, "CPU quota (cgroup)", look_at_quota);

}  // namespace
}  // namespace zerotax::doctor
