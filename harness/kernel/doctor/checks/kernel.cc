#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include <cstring>
#include <string>

#include "doctor/check.h"
#include "os/page.h"
#include "os/pagemap.h"
#include "os/perf_event.h"
#include "os/processor.h"
#include "os/syscall_trap.h"
#include "os/trace_event.h"
#include "os/write_tracker.h"

namespace zerotax::doctor {
namespace {

Finding look_at_kernel(const Machine& machine) {
  Reading release = machine.line("/proc/sys/kernel/osrelease");
  if (!release && machine.is_this()) {
    utsname system{};
    ::uname(&system);
    release = {std::string(&system.release[0]), ""};
  }
  if (!release) return unknown(release.why);
  return {*release.text, Weight::kOk, "", ""};
}

const Check kernel_check(Topic::kKernel, "version", look_at_kernel);

Finding look_at_pagemap(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  const Pagemap pagemap;
  switch (pagemap.method()) {
    case Pagemap::Method::kScan:
      return {"PAGEMAP_SCAN", Weight::kOk, "", ""};
    case Pagemap::Method::kRead:
      return {"read entry by entry", Weight::kLimits, "audits are slower", "run Linux 6.7 or later"};
    case Pagemap::Method::kNone:
      break;
  }
  return {NotAvailable{pagemap.reason()}, Weight::kLimits,
          "run, study, check: redundant_zeroed_bytes, populated_bytes and inline stores are n/a",
          "mount -t proc proc /proc"};
}
const Check pagemap_check(Topic::kKernel, "pagemap", look_at_pagemap);

Finding look_at_tracking(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  const WriteTracker tracker;
  if (tracker.available()) return {tracker.name(), Weight::kOk, "", ""};
  return {NotAvailable{tracker.reason()}, Weight::kLimits,
          "run, study: inline stores to memory that was populated before are missed, and zeroed_bytes of allocators "
          "with such stores are n/a",
          "run Linux 6.7 or later, and let seccomp permit userfaultfd; or run a kernel that keeps soft-dirty bits"};
}
const Check tracking(Topic::kKernel, "write tracking", look_at_tracking);

Finding look_at_dispatch(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  const char* refusal = syscall_trap::refusal();
  if (refusal == nullptr) return {syscall_trap::name(), Weight::kOk, "", ""};
  return {NotAvailable{refusal}, Weight::kLimits,
          "run, study, thresholds, check: system calls of calloc and free are n/a", syscall_trap::remedy()};
}
const Check dispatch(Topic::kKernel, "system call counts", look_at_dispatch);

Finding look_at_soft_dirty(const Machine& machine) {
  // Every new mapping has the flag "sd" if the kernel keeps soft-dirty bits.
  void* mapping = ::mmap(nullptr, page_bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const Reading maps = machine.text("/proc/self/smaps");
  if (mapping != MAP_FAILED) ::munmap(mapping, page_bytes());
  if (!maps) return unknown(maps.why);
  const bool kept = maps.text->find(" sd") != std::string::npos;
  return {kept ? "kept" : "not kept (CONFIG_MEM_SOFT_DIRTY)", Weight::kOk, "", ""};
}
const Check soft_dirty(Topic::kKernel, "soft-dirty bits", look_at_soft_dirty);

/// Whether a process may switch off randomization for programs that it starts. The seccomp filter of some containers
/// forbids the switch. zerotax tries the switch on itself and reverts it. The trial is harmless, because the addresses
/// of heap and stack are chosen when a program starts.
bool may_switch_off() {
  const int now = ::personality(0xffff'ffff);
  if (now < 0) return false;
  const bool may = ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0;
  ::personality(static_cast<unsigned long>(now));
  return may;
}

Finding look_at_layout(const Machine& machine) {
  const auto value = machine.number("/proc/sys/kernel/randomize_va_space");
  if (!value) return unknown("/proc/sys/kernel/randomize_va_space cannot be read");
  if (*value == 0) return {"off", Weight::kOk, "", ""};
  if (!machine.is_this()) return {"on", Weight::kOk, "", ""};
  if (may_switch_off()) return {"on, but off in measured processes", Weight::kOk, "", ""};
  return {"on, and cannot be switched off", Weight::kNote,
          "check, thresholds: counts of faults may differ by a few from process to process",
          "docker run --security-opt seccomp=unconfined …"};
}

const Check layout_check(Topic::kRights, "address randomisation", look_at_layout);

constexpr unsigned kPerfmon = 38;  // CAP_PERFMON, Linux 5.8

bool may_all(const Machine& machine) {
  return machine.has_capability(CAP_SYS_ADMIN) || machine.has_capability(kPerfmon);
}

constexpr const char* kPermitPerfHere = "docker run --cap-add PERFMON …   # or: --security-opt seccomp=unconfined";

/// Tries the call itself on this machine, because settings do not tell whether the call is permitted.
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
            "profile --pid has no call tree, only the kernel's CPU time. Unavailable: profile of a command, fork "
            "(sections), cow, trace run --kernel, snapshot (faults)",
            kPermitPerfHere};
  }
  if (may_all(machine)) return {fmt::format("perf_event_paranoid {}, and privileged", *level), Weight::kOk, "", ""};
  const std::string state = fmt::format("perf_event_paranoid {}", *level);
  if (*level <= 1) return {state, Weight::kOk, "", ""};
  if (*level == 2) {
    return {
        state, Weight::kLimits,
        "fork, snapshot: kernel time is not divided by function (n/a). profile shows the kernel's share of the time "
        "and the sites of page faults, but not the kernel's functions",
        "sysctl kernel.perf_event_paranoid=1"};
  }
  return {state, Weight::kLimits, "profile, cow, trace run --kernel, snapshot (faults): the kernel forbids them",
          "sysctl kernel.perf_event_paranoid=1"};
}
const Check perf(Topic::kRights, "perf events", look_at_perf);

Finding look_at_tracepoints(const Machine& machine) {
  const char* effect =
      "cow, snapshot, trace run --kernel: faults are classified by the pagemap instead of tracepoints, and faults of "
      "the kernel's own accesses are missing";
  if (!kHasFaultTracepoints) {
    return {NotAvailable{fmt::format("Linux has no tracepoints of page faults on {}", kProcessorName)}, Weight::kLimits,
            effect, ""};
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
            "run Linux 5.2 or later with CONFIG_FTRACE and CONFIG_TRACEPOINTS"};
  }
  return {"page faults, allocations", Weight::kOk, "", ""};
}
const Check tracepoints(Topic::kRights, "tracepoints (tracefs)", look_at_tracepoints);

}  // namespace
}  // namespace zerotax::doctor
