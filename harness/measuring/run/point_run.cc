#include "run/point_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "point/point.h"
#include "point/point_document.h"
#include "point/steady_state.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/planning.h"

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
    // The audit creates this object, and the other passes share it until the result is read.
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

namespace {

/// Number of operations of a process: as many as fit in 0.1 s, but at least eight, of which four are in the steady
/// state. At most 200 operations suffice for a median.
constexpr Repeats kRepeats{200, 8, 8, 8, 100};

double cost_of(const OpSample& op, Cost cost) {
  std::int64_t ns = op.calloc_ns;
  if (cost == Cost::kTotal) ns += op.free_ns + (op.touch_ns == kNotMeasured ? 0 : op.touch_ns);
  return static_cast<double>(std::max<std::int64_t>(1, ns));
}

std::int64_t faults_of(const OpSample& op) {
  std::int64_t faults = 0;
  for (const std::int64_t each : {op.calloc_faults, op.touch_faults, op.free_faults}) {
    if (each != kNotMeasured) faults += each;
  }
  return faults;
}

/// Expected duration of two processes that end after kRepeats.ops operations or 0.1 s.
double expected_pair_seconds(const PointSpec& point) {
  const double operation = expected_seconds(point, 1) - expected_seconds(point, 0);
  const double in_time = static_cast<double>(kRepeats.budget_ms) / 1e3 / operation;
  return 2 * expected_seconds(point, std::clamp<double>(in_time, kRepeats.min_ops, kRepeats.ops));
}

PointSpec spec_of(const PairedSetup& setup, const PairedPlace& place) {
  const std::string& thread = place.thread.empty() ? setup.thread : place.thread;
  return {0, place.case_name, place.size_bytes, place.touch, thread, kRepeats};
}

/// Measurements of one process.
struct Observed {
  double ns;
  std::int64_t faults;
};

/// Measures one size and touch in a fresh process. If the process failed, returns nothing and leaves the place out.
std::optional<Observed> observe(const PairedSetup& setup, PairedPlace& place, const Allocator& allocator) {
  const PointSpec spec = spec_of(setup, place);
  const PassResult pass = run_pass(allocator, spec, Pass::kTiming, limits_of(spec, setup.timeout_s));
  end_if_stopped();
  if (pass.status() != PassResult::Status::kOk || pass.ops() == 0) {
    place.left_out = fmt::format("{}: {}", allocator.name, pass.reason().empty() ? "no operation" : pass.reason());
    return {};
  }
  std::vector<double> costs;
  std::vector<std::int64_t> faults;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    costs.push_back(cost_of(pass.op(i), setup.cost));
    faults.push_back(faults_of(pass.op(i)));
  }
  return Observed{quantile(costs, 0.5), observed_median(faults)};
}

void run_pair(const PairedSetup& setup, PairedPlace& place, bool a_first) {
  const auto first = observe(setup, place, a_first ? setup.a : setup.b);
  if (!first) return;
  const auto second = observe(setup, place, a_first ? setup.b : setup.a);
  if (!second) return;
  const Observed& a = a_first ? *first : *second;
  const Observed& b = a_first ? *second : *first;
  place.pairs.push_back({a.ns, b.ns, a_first, a.faults, b.faults});
}

}  // namespace

bool run_pairs(const PairedSetup& setup, std::vector<PairedPlace>& places) {
  for (PairedPlace& place : places) place.left_out = why_too_large(memory_needed(spec_of(setup, place)));
  PairOrder order(setup.coins);
  Experiment experiment("measuring pairs");
  return experiment.run(in_rounds(setup.pairs, places.size(), Rounds::kForward, [&](unsigned round, std::size_t i) {
    PairedPlace& place = places[i];
    Item item;
    item.label = fmt::format("{} touch {:g}, round {}", format_size(place.size_bytes), place.touch, round + 1);
    item.seconds = expected_pair_seconds(spec_of(setup, place));
    item.measure = [&, round, i](const Say&) {
      if (place.left_out.empty()) run_pair(setup, place, order.first_goes_first(round + i));
    };
    return item;
  }));
}

}  // namespace zerotax
