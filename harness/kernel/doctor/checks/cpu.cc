#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <set>
#include <sstream>
#include <string>

#include "doctor/check.h"
#include "os/load.h"

namespace zerotax::doctor {
namespace {

Finding look_at_cpus(const Machine& machine) {
  const auto allowed = machine.field("/proc/self/status", "Cpus_allowed_list");
  if (!allowed) return unknown("/proc/self/status does not name the allowed CPUs");
  const Reading online = machine.line("/sys/devices/system/cpu/online");
  const std::size_t count = count_of_list(*allowed);
  std::string state = fmt::format("{} ({})", count, *allowed);
  if (online && count_of_list(*online.text) > count) state += fmt::format(" of {}", count_of_list(*online.text));
  if (count >= 2) return {state, Weight::kOk, "", ""};
  return {state, Weight::kNote,
          "every command: zerotax and the measured processes share one CPU, so audits run one by one, and cow may"
          " lose events",
          "taskset -c 0-1 zerotax …"};
}
const Check cpus(Topic::kCpu, "CPUs allowed", look_at_cpus);

/// The number of CPUs that a quota allows; 0 without a quota. Version 2 has a line such as "max 100000" or "150000
/// 100000", in microseconds: the quota, and its period.
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
  if (tightest == 0) return {"none", Weight::kOk, "", ""};
  const bool tight = tightest < static_cast<double>(machine.allowed_cpus());
  return {fmt::format("{:.2f} CPUs ({})", tightest, path), tight ? Weight::kSpoils : Weight::kOk,
          tight ? "all times: if the quota of a period is used up, the process waits for the next period" : "",
          tight ? fmt::format("echo {} > {}", path.ends_with("cpu.max") ? "max" : "-1", path) : ""};
}
const Check quota(Topic::kCpu, "CPU quota (cgroup)", look_at_quota);

Finding look_at_load(const Machine& machine) {
  const Reading line = machine.line("/proc/loadavg");
  if (!line) return unknown(line.why);
  double load = 0;
  if (std::from_chars(line.text->data(), line.text->data() + line.text->size(), load).ec != std::errc()) {
    return unknown("/proc/loadavg contains no number");
  }
  const std::size_t cpus = machine.allowed_cpus();
  const LoadLevel level = load_level(load, cpus);
  const std::string state = fmt::format("{:.2f} in the last minute, {} CPU{}", load, cpus, cpus == 1 ? "" : "s");
  const char* remedy = "ps -eo pcpu,pid,user,comm --sort=-pcpu | head";
  if (level == LoadLevel::kBusy) {
    return {state, Weight::kSpoils, "all times (run, study, compare, fork): other programs are running", remedy};
  }
  if (level == LoadLevel::kNoisy) {
    return {state, Weight::kNote, "times are noisier than necessary; counts are not affected", remedy};
  }
  return {state, Weight::kOk, "", ""};
}

const Check load_check(Topic::kCpu, "load", look_at_load);

Finding look_at_governor(const Machine& machine) {
  const std::string folder = "/sys/devices/system/cpu";
  std::set<std::string> governors;
  for (const std::string& name : machine.names(folder)) {
    if (const Reading line = machine.line(fmt::format("{}/{}/cpufreq/scaling_governor", folder, name))) {
      governors.insert(*line.text);
    }
  }
  if (governors.empty()) return unknown("the kernel sets no CPU frequency here (usual in a virtual machine)");
  const std::string state = fmt::format("{}", fmt::join(governors, ", "));
  if (governors == std::set<std::string>{"performance"}) return {state, Weight::kOk, "", ""};
  return {state, Weight::kSpoils,
          "all times: the frequency follows the load, so a short process may run at a fraction of it",
          "cpupower frequency-set -g performance"};
}

const Check governor_check(Topic::kCpu, "frequency governor", look_at_governor);

Finding note(const char* remedy) {
  return {"on", Weight::kNote,
          "times: the frequency depends on heat and on the load of the other CPUs; pairs of processes (compare) "
          "suffer least",
          remedy};
}

Finding look_at_turbo(const Machine& machine) {
  if (const auto off = machine.number("/sys/devices/system/cpu/intel_pstate/no_turbo")) {
    if (*off != 0) return {"off", Weight::kOk, "", ""};
    return note("echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
  }
  if (const auto on = machine.number("/sys/devices/system/cpu/cpufreq/boost")) {
    if (*on == 0) return {"off", Weight::kOk, "", ""};
    return note("echo 0 > /sys/devices/system/cpu/cpufreq/boost");
  }
  return unknown("the kernel does not report turbo (usual in a virtual machine)");
}

const Check turbo_check(Topic::kCpu, "turbo", look_at_turbo);

Finding look_at_virtualisation(const Machine& machine) {
  const Reading cpus = machine.text("/proc/cpuinfo");
  if (!cpus) return unknown(cpus.why);
  const auto at = cpus.text->find("\nflags");
  const std::string flags = at == std::string::npos ? "" : cpus.text->substr(at, cpus.text->find('\n', at + 1) - at);
  if ((flags + " ").find(" hypervisor ") == std::string::npos) return {"none seen", Weight::kOk, "", ""};
  std::string who;
  for (const char* path : {"/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"}) {
    const Reading line = machine.line(path);
    if (who.empty() && line && !line.text->empty()) who = " (" + *line.text + ")";
  }
  return {"a virtual machine" + who, Weight::kNote,
          "times: memory that the host has not backed yet is up to 10 times slower at the first touch (zerotax touches "
          "such memory in advance), and other guests on the host are invisible; hardware counters may be missing",
          ""};
}

const Check virtualisation_check(Topic::kCpu, "virtualisation", look_at_virtualisation);

}  // namespace
}  // namespace zerotax::doctor
