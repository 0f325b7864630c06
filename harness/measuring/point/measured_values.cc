#include "point/measured_values.h"

#include "point/fork_metrics.h"
#include "point/steady_state.h"

namespace zerotax {
namespace {

constexpr const char* kNothingTouched = "nothing is touched";

const PassResult& pass_of(const Passes& passes, MetricPass pass) {
  switch (pass) {
    case MetricPass::kAudit:
      return passes.audit;
    case MetricPass::kTiming:
      return passes.timing;
    case MetricPass::kZeroing:
      return passes.zeroing;
    case MetricPass::kFaults:
      return passes.faults;
    case MetricPass::kHolding:
      return passes.held;
    case MetricPass::kHoldingWithout:
      break;
  }
  return passes.held_without;
}

/// Why the whole pass has no value for this row; empty if it has one.
const char* why_none(const PassResult& pass, const MetricRow& row) {
  return pass.made() && row.source.na != nullptr ? &(pass.samples().*row.source.na)[0] : "";
}

/// Whether the timing pass was made and touched nothing.
bool touched_nothing(const PassResult& timing) { return timing.ops() > 0 && timing.op(0).touch_ns == kNotMeasured; }

}  // namespace

MetricValue steady_value(const Passes& passes, const MetricRow& row, double touch) {
  if (row.kind == MetricKind::kTimeSpread) {
    return steady_time(passes.timing, row.source.of, row.of_touching ? kNothingTouched : "not measured by this pass");
  }
  const bool nothing = row.pass == MetricPass::kTiming ? touched_nothing(passes.timing) : touch == 0;
  if (row.of_touching && nothing) return MetricValue::not_available(kNothingTouched);
  const PassResult& pass = pass_of(passes, row.pass);
  return steady_count(pass, pass_name(row.pass), row.source.of, why_none(pass, row), row.source.unseen);
}

MetricValue value_at(const Passes& passes, const MetricRow& row, std::size_t op) {
  if (row.of_touching && touched_nothing(passes.timing)) return MetricValue::not_available(kNothingTouched);
  const PassResult& pass = pass_of(passes, row.pass);
  return single_figure(pass, pass_name(row.pass), op, row.source.of, why_none(pass, row), row.source.unseen);
}

bool is_measured_group(const Passes& passes, MetricGroup group) {
  if (group == MetricGroup::kHeld) return passes.held.made();
  return group == MetricGroup::kPoint || (group != MetricGroup::kTransfer && forks(passes));
}

}  // namespace zerotax
