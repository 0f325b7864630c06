#include <fmt/format.h>

#include <algorithm>

#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

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
  return {
      fmt::format("{}", count), Weight::kNote,
      "times: a page of another node costs more to clear and to touch, and the node of a process is a matter of chance",
      "numactl --cpunodebind=0 --membind=0 zerotax …"};
}
const Check node_count(Topic::kMemory, "NUMA nodes", look_at_nodes);

Finding look_at_balancing(const Machine& machine) {
  const auto value = machine.number("/proc/sys/kernel/numa_balancing");
  if (!value) return unknown("this kernel has no NUMA balancing");
  if (*value == 0) return {"off", Weight::kOk, "", ""};
  if (nodes(machine) < 2) return {"on, with one node", Weight::kOk, "", ""};
  return {"on", Weight::kSpoils,
          "faults and times: the kernel unmaps pages to see who uses them, and each such fault counts as a minor fault",
          "sysctl kernel.numa_balancing=0"};
}
const Check balancing(Topic::kMemory, "NUMA balancing", look_at_balancing);

}  // namespace
}  // namespace zerotax::doctor
