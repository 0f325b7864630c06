#include "run/paired_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "point/point.h"
#include "point/steady_state.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/make_plan.h"
#include "run/memory_guard.h"
#include "run/point_run.h"

namespace zerotax {
namespace {

/// A tenth of a second, but at least eight operations, of which four are steady; at most 200, enough for a median.
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

/// Of two processes that end after so many operations, or a tenth of a second.
double expected_pair_seconds(const PointSpec& point) {
  const double operation = expected_seconds(point, 1) - expected_seconds(point, 0);
  const double in_time = static_cast<double>(kRepeats.budget_ms) / 1e3 / operation;
  return 2 * expected_seconds(point, std::clamp<double>(in_time, kRepeats.min_ops, kRepeats.ops));
}

PointSpec spec_of(const PairedSetup& setup, const PairedPlace& place) {
  const std::string& thread = place.thread.empty() ? setup.thread : place.thread;
  return {0, place.case_name, place.size_bytes, place.touch, thread, kRepeats};
}

/// What one process measured.
struct Observed {
  double ns;
  std::int64_t faults;
};

/// What a fresh process at a place measures; empty if it was stopped, or failed: then the place is left out.
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
