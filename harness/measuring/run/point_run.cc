#include "run/point_run.h"

#include <fmt/format.h>

#include <memory>

#include "base/size.h"
#include "base/units.h"
#include "point/point_json.h"
#include "run/interrupt.h"
#include "run/make_plan.h"
#include "run/memory_guard.h"

namespace zerotax {

double expected_seconds(const PointSpec& point, double ops) {
  constexpr double kStart = 0.015;
  constexpr double kOperation = 2e-6;
  const double share = point.touch > 0 ? 1.0 : 0.4;
  const double gib = static_cast<double>(memory_needed(point)) / static_cast<double>(kGiB);
  return kStart + ops * (kOperation + 0.45 * share * gib);
}

double expected_seconds(const Plan& plan, const PointSpec& point) {
  const Repeats& repeats = point.repeats;
  return expected_seconds(point, repeats.audit_ops + (plan.audit_only ? 0 : repeats.min_ops + repeats.zeroing_ops));
}

PassLimits limits_of(const PointSpec& point, double timeout_s) {
  PassLimits limits;
  limits.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(timeout_s));
  limits.resident_bytes = resident_limit(memory_needed(point));
  return limits;
}

PointRun::PointRun(const Plan& plan, const PointSpec& spec)
    : plan_(plan), spec_(spec), skipped_(why_too_large(memory_needed(spec))) {}

PassResult PointRun::pass(Pass which) { return pass(which, plan_.huge_pages); }

PassResult PointRun::pass(Pass which, HugePages huge_pages) {
  if (!skipped_.empty()) return {};
  PassLimits limits = limits_of(spec_, plan_.timeout_s);
  limits.huge_pages = huge_pages;
  limits.used = used_;
  PassResult result = run_pass(plan_.allocators[spec_.allocator], spec_, which, limits);
  end_if_stopped();
  used_ += result.used();
  return result;
}

void PointRun::count_faults() {
  if (passes_.audit.status() == PassResult::Status::kOk) passes_.timing = pass(Pass::kTiming);
}

void PointRun::hold() {
  if (plan_.huge_pages == HugePages::kOfSystem || passes_.audit.status() != PassResult::Status::kOk) return;
  passes_.held = pass(Pass::kHeld);
  passes_.held_without = pass(Pass::kHeld, HugePages::kNever);
}

void PointRun::time() {
  if (!skipped_.empty() || passes_.audit.status() == PassResult::Status::kTimeout) return;
  passes_.timing = pass(Pass::kTiming);
  if (passes_.audit.samples().forks != 0) passes_.faults = pass(Pass::kFaults);
  if (!needs_zeroing_pass(passes_.audit)) return;
  passes_.zeroing = pass(Pass::kZeroing);
  if (needs_differential_pass(passes_)) passes_.differential = pass(Pass::kDifferential);
}

Point PointRun::point() const {
  return skipped_.empty() ? measured_point(plan_, spec_, passes_) : skipped_point(plan_, spec_, skipped_);
}

Point audit_point(const Plan& plan, const PointSpec& spec) {
  PointRun run(plan, spec);
  run.audit();
  return run.point();
}

Point count_point(const Plan& plan, const PointSpec& spec) {
  PointRun run(plan, spec);
  run.audit();
  run.count_faults();
  return run.point();
}

Point measure_point(const Plan& plan, const PointSpec& spec) {
  PointRun run(plan, spec);
  run.audit();
  run.hold();
  run.time();
  return run.point();
}

std::vector<Item> items_of(const Plan& plan) {
  std::vector<Item> items;
  items.reserve(plan.points.size());
  for (const PointSpec& spec : plan.points) {
    Item& item = items.emplace_back();
    item.key = point_key(plan, spec);
    item.group = fmt::format("{}/{}/{}/{}", spec.case_name, spec.size_bytes, spec.touch, spec.thread);
    item.batch = fmt::format("{}/{}", spec.case_name, spec.size_bytes);
    item.label =
        fmt::format("{} {} touch {:g}", plan.allocators[spec.allocator].name, format_size(spec.size_bytes), spec.touch);
    item.seconds = expected_seconds(plan, spec);
    item.memory_bytes = memory_needed(spec);
    // The passes take memory from the audit until the result was asked for.
    const auto run = std::make_shared<std::unique_ptr<PointRun>>();
    item.audit = [&plan, &spec, run](const Say&) {
      *run = std::make_unique<PointRun>(plan, spec);
      (*run)->audit();
    };
    item.measure = [&plan, run](const Say&) {
      (*run)->hold();
      if (!plan.audit_only) (*run)->time();
    };
    item.result = [run] {
      Json result = to_json((*run)->point());
      run->reset();
      return result;
    };
  }
  return items;
}

}  // namespace zerotax
