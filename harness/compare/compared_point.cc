#include "compare/compared_point.h"

#include <fmt/format.h>

#include <cmath>

#include "point/operation_cost.h"
#include "point/value_words.h"

namespace zerotax::compare {
namespace {

/// The cost of one call: the median, or if calls are not alike the mean over their kinds, because the median would hide
/// one kind behind another. Nothing if it was not counted.
std::optional<std::uint64_t> per_call(const Point& point, Metric metric) {
  const std::vector<CallMode>& modes =
      row_of(metric).pass == MetricPass::kAudit ? point.audit_modes : point.timing_modes;
  double mean = 0;
  for (const CallMode& mode : modes) {
    const auto count = mode.count(metric);
    if (!count) return point.count(metric);
    mean += mode.share * static_cast<double>(*count);
  }
  return modes.empty() ? point.count(metric) : static_cast<std::uint64_t>(std::llround(mean));
}

/// A count, or why the point has none.
Measured<std::int64_t> counted(const Point& point, Metric metric, std::optional<std::uint64_t> count) {
  if (count) return static_cast<std::int64_t>(*count);
  const std::string why = point[metric].why_not();
  return NotAvailable{why.empty() ? "not measured" : why};
}

/// The faults of an operation, or the first part of them that is not available. What is not touched has no faults of
/// touching.
Measured<std::int64_t> faults_of(const Point& point) {
  std::uint64_t sum = 0;
  for (const Metric metric : {Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults}) {
    const auto faults = per_call(point, metric);
    if (!faults && (metric != Metric::kTouchFaults || point.touch != 0.0)) return counted(point, metric, faults);
    sum += faults.value_or(0);
  }
  return static_cast<std::int64_t>(sum);
}

Measured<std::int64_t> calls_of(const Point& point) {
  const SystemCalls* calls = point.calls(Metric::kSyscalls);
  if (calls == nullptr) return counted(point, Metric::kSyscalls, std::nullopt);
  std::int64_t sum = 0;
  for (const auto& [name, times] : *calls) sum += static_cast<std::int64_t>(times);
  return sum;
}

}  // namespace

std::string compared_key(const ComparedPoint& point) {
  return fmt::format("{}/{}/{:g}/{}", point.case_name, point.size_bytes, point.touch, point.thread);
}

std::string ComparedPoint::why_invalid() const {
  if (!before.invalid.empty()) return "OLD: " + before.invalid;
  return after.invalid.empty() ? invalid : "NEW: " + after.invalid;
}

void add_figures(const Point& point, bool with_times, Cost cost, ComparedSide& side) {
  if (!point.is_ok()) {
    side.invalid = fmt::format("{}: {}", word_of(point.status), point.reason.value_or("no reason is given"));
    return;
  }
  const auto per_call_of = [&](Metric metric) { return counted(point, metric, per_call(point, metric)); };
  side.work.zeroed_bytes.push_back(per_call_of(Metric::kZeroedBytes));
  side.work.redundant_zeroed_bytes.push_back(per_call_of(Metric::kRedundantZeroedBytes));
  side.work.syscalls.push_back(calls_of(point));
  if (side.modes.empty()) side.modes = mode_lines(point);
  if (!with_times) return;
  side.work.faults.push_back(faults_of(point));
  side.ns = cost == Cost::kCalloc ? point.number(Metric::kCallocNs) : operation_ns(point);
}

}  // namespace zerotax::compare
