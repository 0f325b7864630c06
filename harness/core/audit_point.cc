#include "core/audit_point.h"

#include <chrono>

#include "core/memory_guard.h"
#include "core/point.h"
#include "core/probe_process.h"

namespace zerotax {

namespace {

Point point_by_passes(const Plan& plan, const PointSpec& spec, bool with_faults, const std::function<bool()>& stop) {
  const std::string too_large = why_too_large(memory_needed(spec));
  if (!too_large.empty()) return skipped_point(plan, spec, too_large);
  const Allocator& allocator = plan.allocators[spec.allocator];
  PassLimits limits;
  limits.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan.timeout_s));
  limits.resident_bytes = resident_limit(memory_needed(spec));
  Passes passes;
  passes.audit = run_pass(allocator, spec, Pass::kAudit, limits, stop);
  if (with_faults && passes.audit.status() == PassResult::Status::kOk) {
    limits.used = passes.audit.used();
    passes.timing = run_pass(allocator, spec, Pass::kTiming, limits, stop);
  }
  return measured_point(plan, spec, passes);
}

}  // namespace

Point audit_point(const Plan& plan, const PointSpec& spec, const std::function<bool()>& stop) {
  return point_by_passes(plan, spec, false, stop);
}

Point count_point(const Plan& plan, const PointSpec& spec, const std::function<bool()>& stop) {
  return point_by_passes(plan, spec, true, stop);
}

}  // namespace zerotax
