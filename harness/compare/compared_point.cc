#include "compare/compared_point.h"

#include <fmt/format.h>

#include <cmath>

#include "core/metric_json.h"
#include "core/operation_cost.h"
#include "core/value_words.h"

namespace zerotax::compare {
namespace {

/// What one call takes: the median, or where calls are not alike the mean over their kinds, for the median would hide
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

/// The faults of an operation, or the first part of them that is not available. What is not touched has no faults of
/// touching.
Json faults_of(const Point& point) {
  std::uint64_t sum = 0;
  for (const Metric metric : {Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults}) {
    const auto faults = per_call(point, metric);
    if (!faults && (metric != Metric::kTouchFaults || point.touch != 0.0)) return to_json(point[metric]);
    sum += faults.value_or(0);
  }
  return sum;
}

Json calls_of(const Point& point) {
  const SystemCalls* calls = point.calls(Metric::kSyscalls);
  if (calls == nullptr) return to_json(point[Metric::kSyscalls]);
  std::uint64_t sum = 0;
  for (const auto& [name, times] : *calls) sum += times;
  return sum;
}

}  // namespace

std::string compared_key(const ComparedPoint& point) {
  return fmt::format("{}/{}/{:g}/{}", point.case_name, point.size_bytes, point.touch, point.thread);
}

void add_figures(const Point& point, bool with_times, Cost cost, ComparedSide& side) {
  if (!point.is_ok()) {
    side.invalid = fmt::format("{}: {}", word_of(point.status), point.reason.value_or("no reason is given"));
    return;
  }
  for (const Metric metric : {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes}) {
    const auto bytes = per_call(point, metric);
    side.work[row_of(metric).key].push_back(bytes ? Json(*bytes) : to_json(point[metric]));
  }
  side.work["syscalls"].push_back(calls_of(point));
  if (side.modes.empty()) side.modes = mode_lines(point);
  if (!with_times) return;
  side.work["faults"].push_back(faults_of(point));
  side.ns = cost == Cost::kCalloc ? point.number(Metric::kCallocNs) : operation_ns(point);
}

}  // namespace zerotax::compare
