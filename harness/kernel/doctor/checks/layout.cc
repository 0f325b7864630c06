#include <sys/personality.h>

#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

/// Whether a process may switch randomisation off for what it starts: the seccomp filter of some containers forbids it.
/// It is tried on ourselves and taken back; where the heap and stack of a process lie is decided when it starts.
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

}  // namespace
}  // namespace zerotax::doctor
