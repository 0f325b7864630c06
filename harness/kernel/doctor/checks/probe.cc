#include "base/error.h"
#include "base/units.h"
#include "doctor/check.h"
#include "point/plan.h"
#include "run/probe_identity.h"

namespace zerotax::doctor {
namespace {

Finding look_at_probe(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  try {
    const std::size_t cases = known_cases().size();
    return {"starts, with " + format_counted(static_cast<std::uint64_t>(cases), "case"), Weight::kOk, "", ""};
  } catch (const Error& failure) {
    return {NotAvailable{failure.what()}, Weight::kStops, "every command that measures an allocator", failure.remedy()};
  }
}
const Check probe(Topic::kZerotax, "probe", look_at_probe);

Finding look_at_proc(const Machine& machine) {
  const Reading status = machine.line("/proc/self/status");
  if (status) return {"mounted", Weight::kOk, "", ""};
  return {NotAvailable{status.why}, Weight::kStops,
          "every command that measures an allocator; programs cannot be recorded or watched either",
          "mount -t proc proc /proc"};
}
const Check proc(Topic::kKernel, "/proc", look_at_proc);

}  // namespace
}  // namespace zerotax::doctor
