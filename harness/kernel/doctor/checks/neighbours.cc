#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <thread>

#include "base/size.h"
#include "base/units.h"
#include "doctor/check.h"
#include "os/memory.h"
#include "os/page.h"
#include "os/process_stat.h"

namespace zerotax::doctor {
namespace {

/// CPU time since boot, in clock ticks (proc(5)).
struct Ticks {
  double all = 0;
  double stolen = 0;
  std::map<std::string, double> by_process;  ///< user and system time, by PID
};

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

Ticks read_ticks(const Machine& machine) {
  Ticks ticks;
  if (const Reading line = machine.line("/proc/stat")) {
    std::istringstream words(*line.text);
    std::string name;
    words >> name;
    double value = 0;
    // The columns are user, nice, system, idle, iowait, irq, softirq and steal. Guest time is a part of user.
    for (int column = 0; column < 8 && words >> value; ++column) {
      ticks.all += value;
      if (column == 7) ticks.stolen = value;
    }
  }
  for (const std::string& pid : machine.names("/proc")) {
    if (!is_number(pid) || (machine.is_this() && pid == std::to_string(::getpid()))) continue;
    const Reading stat = machine.line("/proc/" + pid + "/stat");
    const auto found = parse_process_stat(stat.text.value_or(""));
    if (found) ticks.by_process[pid] = static_cast<double>(found->user_ticks + found->system_ticks);
  }
  return ticks;
}

/// CPU time that was used during a third of a second.
Ticks watch(const Machine& machine) {
  const Ticks before = read_ticks(machine);
  std::this_thread::sleep_for(std::chrono::milliseconds(330));
  Ticks after = read_ticks(machine);
  after.all -= before.all;
  after.stolen -= before.stolen;
  for (auto& [pid, ticks] : after.by_process) {
    const auto was = before.by_process.find(pid);
    if (was != before.by_process.end()) ticks -= was->second;
  }
  return after;
}

/// CPU time that was used within a third of a second, measured once; for planted files, since boot.
Ticks recent(const Machine& machine) {
  if (!machine.is_this()) return read_ticks(machine);
  static const Ticks kLook = watch(machine);
  return kLook;
}

Finding look_at_programs(const Machine& machine) {
  constexpr double kBusy = 0.2;  // share of one CPU
  const Ticks ticks = recent(machine);
  if (ticks.all <= 0) return unknown("/proc/stat cannot be read");
  const Reading online = machine.line("/sys/devices/system/cpu/online");
  const auto cpus = static_cast<double>(online ? count_of_list(*online.text) : machine.allowed_cpus());
  std::vector<std::pair<double, std::string>> busy;
  for (const auto& [pid, used] : ticks.by_process) {
    if (used * cpus / ticks.all >= kBusy) busy.emplace_back(used * cpus / ticks.all, pid);
  }
  std::sort(busy.rbegin(), busy.rend());
  if (busy.empty()) return {"no program uses a fifth of a CPU", Weight::kOk, "", ""};
  const auto& [share, pid] = busy.front();
  const std::string name = machine.line("/proc/" + pid + "/comm").text.value_or("?");
  const std::string more = busy.size() > 1 ? fmt::format(", and {} more", busy.size() - 1) : "";
  return {fmt::format("{} ({}): {} of a CPU{}", name, pid, format_whole_percent(share), more), Weight::kSpoils,
          "all times: the program runs at the same time as the measured processes",
          fmt::format("kill -STOP {}   # later: kill -CONT {}", pid, pid)};
}
const Check programs(Topic::kCpu, "other programs", look_at_programs);

Finding look_at_steal(const Machine& machine) {
  const Ticks ticks = recent(machine);
  if (ticks.all <= 0) return unknown("/proc/stat cannot be read");
  const double share = ticks.stolen / ticks.all;
  const std::string state = format_percent(share);
  if (share < 0.02) return {state, Weight::kOk, "", ""};
  return {state, Weight::kSpoils, "all times: the host gives this machine's CPUs to others", ""};
}
const Check steal(Topic::kCpu, "stolen by the host", look_at_steal);

Finding look_at_memory(const Machine& machine) {
  const MemoryState memory = read_memory_state(machine.root());
  if (memory.total == 0) return unknown("/proc/meminfo cannot be read");
  std::uint64_t most = 0;
  std::string who;
  for (const std::string& pid : machine.names("/proc")) {
    if (!is_number(pid)) continue;
    const Reading line = machine.line("/proc/" + pid + "/statm");
    const auto pages = parse_process_pages(line.text.value_or(""));
    if (!pages || pages->resident * page_bytes() <= most) continue;
    most = pages->resident * page_bytes();
    who = pid;
  }
  if (most < memory.total / 4) return {"no program uses a quarter of the memory", Weight::kOk, "", ""};
  const std::string name = machine.line("/proc/" + who + "/comm").text.value_or("?");
  return {fmt::format("{} ({}): {}", name, who, format_size(most)), Weight::kNote,
          "times and skipped points: memory that a block needs may have to be reclaimed first",
          fmt::format("kill {}", who)};
}
const Check memory(Topic::kMemory, "other programs", look_at_memory);

}  // namespace
}  // namespace zerotax::doctor
