#include <fmt/format.h>
#include <linux/capability.h>

#include "doctor/check.h"
#include "os/perf_refusal.h"
#include "os/processor.h"
#include "os/trace_event.h"

namespace zerotax::doctor {
namespace {

constexpr unsigned kPerfmon = 38;  // CAP_PERFMON, Linux 5.8

bool may_all(const Machine& machine) {
  return machine.has_capability(CAP_SYS_ADMIN) || machine.has_capability(kPerfmon);
}

constexpr const char* kPermitPerfHere = "docker run --cap-add PERFMON …   # or: --security-opt seccomp=unconfined";

/// Tries the call itself on this machine, whatever the settings are.
std::string why_denied(const Machine& machine) { return machine.is_this() ? why_perf_denied() : ""; }

Finding look_at_perf(const Machine& machine) {
  const auto level = machine.number("/proc/sys/kernel/perf_event_paranoid");
  if (!level) {
    return {NotAvailable{"this kernel has no perf events"}, Weight::kLimits,
            "profile, fork (sections), cow, trace run --kernel and snapshot (faults) are unavailable",
            "run a kernel with CONFIG_PERF_EVENTS"};
  }
  if (const std::string denied = why_denied(machine); !denied.empty()) {
    return {NotAvailable{denied}, Weight::kLimits,
            "profile --pid: how much CPU time is the kernel's, no call tree; profile, fork (sections), cow, trace run "
            "--kernel, snapshot (faults): unavailable",
            kPermitPerfHere};
  }
  if (may_all(machine)) return {fmt::format("perf_event_paranoid {}, and privileged", *level), Weight::kOk, "", ""};
  const std::string state = fmt::format("perf_event_paranoid {}", *level);
  if (*level <= 1) return {state, Weight::kOk, "", ""};
  if (*level == 2) {
    return {state, Weight::kLimits,
            "fork, snapshot: kernel time is not divided by function (n/a); profile: how much it is, and where page "
            "faults are taken, not what the kernel does",
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
  if (!kHasFaultTracepoints) {
    return {NotAvailable{fmt::format("Linux has none of page faults on {}", kProcessorName)}, Weight::kLimits, effect,
            ""};
  }
  if (!machine.has_capability(CAP_SYS_ADMIN)) {
    return {"not permitted (needs CAP_SYS_ADMIN)", Weight::kLimits, effect, "sudo zerotax cow …"};
  }
  if (!machine.is_this()) return not_asked();
  if (const std::string denied = why_denied(machine); !denied.empty()) {
    return {NotAvailable{denied}, Weight::kLimits, effect, kPermitPerfHere};
  }
  for (const char* name : {"exceptions/page_fault_user", "exceptions/page_fault_kernel", "kmem/mm_page_alloc"}) {
    if (read_trace_event(name)) continue;
    return {NotAvailable{fmt::format("tracefs has no {}", name)}, Weight::kLimits, effect,
            "run a kernel of 5.2 or later with CONFIG_FTRACE and CONFIG_TRACEPOINTS"};
  }
  return {"page faults, allocations", Weight::kOk, "", ""};
}
const Check tracepoints(Topic::kRights, "tracepoints (tracefs)", look_at_tracepoints);

}  // namespace
}  // namespace zerotax::doctor
