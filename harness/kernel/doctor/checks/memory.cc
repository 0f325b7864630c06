#include "os/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "doctor/check.h"
#include "run/experiment.h"

namespace zerotax::doctor {
namespace {

/// The largest block of the study (study/plan.cc), and of README's headline.
constexpr std::uint64_t kLargestOfStudy = kGiB;
/// With less memory, even the smallest points of the study leave no room for the command itself.
constexpr std::uint64_t kLeast = 128 * kMiB;

Finding look_at_free(const Machine& machine) {
  const MemoryState memory = read_memory_state(machine.root());
  if (memory.total == 0) return unknown("neither /proc/meminfo nor sysinfo(2) reports it");
  const std::string state = fmt::format("{} of {} available", format_size(memory.available), format_size(memory.total));
  if (memory.usable() < kLeast) {
    return {state, Weight::kStops, fmt::format("every command: less than {} is left", format_size(kLeast)),
            "ps -eo rss,pid,user,comm --sort=-rss | head"};
  }
  const std::string too_large = why_too_large(kLargestOfStudy, memory);
  if (too_large.empty()) return {state, Weight::kOk, "", ""};
  return {state, Weight::kLimits,
          fmt::format("run, study, compare: larger points are skipped (a block of {} {})", format_size(kLargestOfStudy),
                      too_large),
          "ps -eo rss,pid,user,comm --sort=-rss | head"};
}
const Check available(Topic::kMemory, "available", look_at_free);

Finding look_at_limit(const Machine& machine) {
  const MemoryState memory = read_memory_state(machine.root());
  if (!memory.cgroup_limit) return {"none", Weight::kOk, "", ""};
  const std::string state = fmt::format("{}, {} of it left", format_size(*memory.cgroup_limit),
                                        format_size(memory.cgroup_available.value_or(0)));
  // A limit above the machine's memory never takes effect.
  if (*memory.cgroup_limit >= memory.total) return {state, Weight::kOk, "", ""};
  const bool fits = why_too_large(kLargestOfStudy, memory).empty();
  return {state, fits ? Weight::kNote : Weight::kLimits,
          fits ? "points that do not fit in the limit are skipped; points close to it are slowed by swapping or reclaim"
               : "run, study, compare: points that do not fit in the limit are skipped",
          "systemd-run --scope -p MemoryMax=infinity zerotax …"};
}
const Check limit(Topic::kMemory, "limit (cgroup)", look_at_limit);

Finding look_at_swap(const Machine& machine) {
  const MemoryState memory = read_memory_state(machine.root());
  if (memory.total == 0) return unknown("neither /proc/meminfo nor sysinfo(2) reports it");
  if (memory.swap == 0) return {"none", Weight::kOk, "", ""};
  // If a quarter of the memory is free, kswapd of a machine with default settings is far from its watermarks.
  const bool short_of_memory = memory.available < memory.total / 4;
  return {format_size(memory.swap), short_of_memory ? Weight::kSpoils : Weight::kNote,
          short_of_memory
              ? "times and faults: little memory is left, so pages of a block may be swapped out and read back in"
              : "pages of a block may be swapped out when memory runs short (swapped pages still count as populated)",
          "swapoff -a"};
}
const Check swap(Topic::kMemory, "swap", look_at_swap);

Finding look_at_address_space(const Machine& machine) {
  const Reading limits = machine.text("/proc/self/limits");
  if (!limits) return unknown(limits.why);
  constexpr std::string_view kName = "Max address space";
  const auto at = limits.text->find(kName);
  if (at == std::string::npos) return unknown("/proc/self/limits does not list the address space");
  const auto begin = limits.text->find_first_not_of(' ', at + kName.size());
  const std::string word = limits.text->substr(begin, limits.text->find(' ', begin) - begin);
  if (word == "unlimited") return {word, Weight::kOk, "", ""};
  return {word + " bytes (ulimit -v)", Weight::kLimits,
          "run, study: allocators that reserve address space in advance fail, and large blocks are refused",
          "ulimit -v unlimited"};
}
const Check address_space(Topic::kMemory, "address space", look_at_address_space);

std::size_t nodes(const Machine& machine) {
  std::size_t count = 0;
  for (const std::string& name : machine.names("/sys/devices/system/node")) {
    const bool numbered = name.size() > 4 && name.find_first_not_of("0123456789", 4) == std::string::npos;
    if (name.starts_with("node") && numbered) ++count;
  }
  return count;
}

Finding look_at_nodes(const Machine& machine) {
  const std::size_t count = nodes(machine);
  if (count == 0) return unknown("/sys/devices/system/node names no node");
  if (count == 1) return {"1", Weight::kOk, "", ""};
  return {fmt::format("{}", count), Weight::kNote,
          "times: clearing and touching a page on another node takes longer, and the node of a process is random",
          "numactl --cpunodebind=0 --membind=0 zerotax …"};
}
const Check node_count(Topic::kMemory, "NUMA nodes", look_at_nodes);

Finding look_at_balancing(const Machine& machine) {
  const auto value = machine.number("/proc/sys/kernel/numa_balancing");
  if (!value) return unknown("this kernel has no NUMA balancing");
  if (*value == 0) return {"off", Weight::kOk, "", ""};
  if (nodes(machine) < 2) return {"on, with one node", Weight::kOk, "", ""};
  return {"on", Weight::kSpoils,
          "faults and times: the kernel unmaps pages to find out which node uses them, and each such fault counts"
          " as a minor fault",
          "sysctl kernel.numa_balancing=0"};
}
const Check balancing(Topic::kMemory, "NUMA balancing", look_at_balancing);

}  // namespace
}  // namespace zerotax::doctor
