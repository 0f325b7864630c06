#include <fmt/format.h>
#include <linux/capability.h>

#include "doctor/check.h"
#include "os/trace_event.h"

namespace zerotax::doctor {
namespace {

constexpr unsigned kPerfmon = 38;  // CAP_PERFMON, Linux 5.8

bool may_all(const Machine& machine) {
  return machine.has_capability(CAP_SYS_ADMIN) || machine.has_capability(kPerfmon);
}

Finding look_at_perf(const Machine& machine) {
  const auto level = machine.number("/proc/sys/kernel/perf_event_paranoid");
  if (!level) {
    return {not_available("this kernel has no perf events"), Weight::kLimits,
            "profile, fork (sections), cow, trace run --kernel and snapshot (faults) are unavailable",
            "run a kernel with CONFIG_PERF_EVENTS"};
  }
  if (may_all(machine)) return {fmt::format("perf_event_paranoid {}, and privileged", *level), Weight::kOk, "", ""};
  const std::string state = fmt::format("perf_event_paranoid {}", *level);
  if (*level <= 1) return {state, Weight::kOk, "", ""};
  if (*level == 2) {
    return {state, Weight::kLimits,
            "fork, snapshot: kernel time is not divided by function (n/a); profile: kernel time is missing",
            "sysctl kernel.perf_event_paranoid=1"};
  }
  return {state, Weight::kLimits, "profile, cow, trace run --kernel, snapshot (faults): the kernel forbids them",
          "sysctl kernel.perf_event_paranoid=1"};
}
const Check perf(Topic::kRights, "perf events", look_at_perf);

Finding look_at_tracepoints(const Machine& machine) {
  const char* effect =
      "cow, snapshot, trace run --kernel: faults are classified from the pagemap, not by tracepoints; those of the "
      "kernel's own accesses are missing";
  if (!machine.has_capability(CAP_SYS_ADMIN)) {
    return {"not permitted (needs CAP_SYS_ADMIN)", Weight::kLimits, effect, "sudo zerotax cow …"};
  }
  if (!machine.is_this()) return not_asked();
  for (const char* name : {"exceptions/page_fault_user", "exceptions/page_fault_kernel", "kmem/mm_page_alloc"}) {
    if (read_trace_event(name)) continue;
    return {not_available(fmt::format("tracefs has no {}", name)), Weight::kLimits, effect,
            "run a kernel of 5.2 or later with CONFIG_FTRACE and CONFIG_TRACEPOINTS"};
  }
  return {"page faults, allocations", Weight::kOk, "", ""};
}
const Check tracepoints(Topic::kRights, "tracepoints (tracefs)", look_at_tracepoints);

}  // namespace
}  // namespace zerotax::doctor
