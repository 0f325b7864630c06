#include "compare/compared_point.h"

#include <fmt/format.h>

#include "core/metric_json.h"
#include "core/operation_cost.h"

namespace zerotax::compare {
namespace {

/// The faults of an operation, or the first part of them that is not available. What is not touched has no faults of
/// touching.
Json faults_of(const Point& point) {
  std::uint64_t sum = 0;
  for (const Metric metric : {Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults}) {
    const auto faults = point.count(metric);
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
    side.work[row_of(metric).key].push_back(to_json(point[metric]));
  }
  side.work["syscalls"].push_back(calls_of(point));
  if (!with_times) return;
  side.work["faults"].push_back(faults_of(point));
  side.ns = cost == Cost::kCalloc ? point.number(Metric::kCallocNs) : operation_ns(point);
}

}  // namespace zerotax::compare
