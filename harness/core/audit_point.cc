#include "core/audit_point.h"

#include <chrono>

#include "core/memory_guard.h"
#include "core/point.h"
#include "core/probe_process.h"

namespace zerotax {

Point audit_point(const Plan& plan, const PointSpec& spec, const std::function<bool()>& stop) {
  const std::string too_large = why_too_large(memory_needed(spec));
  if (!too_large.empty()) return skipped_point(plan, spec, too_large);
  PassLimits limits;
  limits.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan.timeout_s));
  limits.resident_bytes = resident_limit(memory_needed(spec));
  Passes passes;
  passes.audit = run_pass(plan.allocators[spec.allocator], spec, Pass::kAudit, limits, stop);
  return measured_point(plan, spec, passes);
}

}  // namespace zerotax
