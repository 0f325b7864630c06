#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "baseline/measurer.h"
#include "bisect/expectation.h"
#include "bisect/measure.h"
#include "judge/document.h"

namespace zerotax::bisect {
namespace {

constexpr PointTime kObservedTime{ClockMode::kStopped, 0};

PointSpec spec_of(const Place& place) {
  return {0, place.case_name, place.size_bytes, place.touch, place.thread, baseline::kBaselineRepeats, kObservedTime};
}

Observed unknown(const std::string& why) { return {false, false, why}; }

std::string number_text(const MetricRow& row, double number) {
  if (row.kind == MetricKind::kRatio) return format_ratio(number);
  return format_count(static_cast<std::uint64_t>(std::llround(number)));
}

std::uint64_t all_calls(const SystemCalls& calls) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : calls) sum += count;
  return sum;
}

}  // namespace

Observed Expectation::observe_metric(const Allocator& allocator, const Place& place) const {
  const bool by_audit = row_of(metric_).pass == MetricPass::kAudit;
  const Point point = by_audit ? audited(allocator, spec_of(place), place.timeout_s)
                               : measured_in_all_passes(allocator, spec_of(place), place.timeout_s);
  if (!has_result(point)) return unknown(fmt::format("{}: {}", word_of(point.status), point.reason.value_or("")));
  if (first_ && point.first() == nullptr) return unknown("the first call was not measured");
  const MetricValues& values = first_ ? static_cast<const MetricValues&>(*point.first()) : point;
  const MetricRow& row = row_of(metric_);
  if (!values.is_measured(metric_)) {
    const std::string why = values.why_not(metric_);
    return unknown(fmt::format("{} is n/a: {}", name_, why.empty() ? "this case does not measure it" : why));
  }
  if (row.kind == MetricKind::kWord) {
    const std::string word = *values.word(metric_);
    return {true, (word == word_) == is("=="), fmt::format("{} is {}", name_, word)};
  }
  double number = 0;
  if (row.kind == MetricKind::kSystemCalls) {
    number = static_cast<double>(call_.empty() ? all_calls(*values.calls(metric_))
                                               : values.calls(metric_, call_).value_or(0));
  } else {
    number = values.number(metric_).value_or(0);
  }
  const char* bound = values.is_upper_bound(metric_) ? "at most " : "";
  return {true, compare(number), fmt::format("{} is {}{}", name_, bound, number_text(row, number))};
}

Observed Expectation::observe_thresholds(const Allocator& allocator, const Place& place) const {
  // One small point: a grid has at least one.
  const Measurement measured =
      measure(allocator, {{std::uint64_t{64} << 10}, true, place.last_bytes, place.timeout_s}, [] {});
  std::vector<std::string> sizes;
  bool any = false;
  for (const baseline::BaselineThreshold& threshold : *measured.baseline.thresholds) {
    const auto at = static_cast<double>(threshold.at_bytes);
    any = any || (is("!=") ? at == number_ : compare(at));
    sizes.push_back(format_count(threshold.at_bytes));
  }
  const std::string list = sizes.empty() ? "none" : fmt::format("at {}", fmt::join(sizes, "; "));
  if (subject_ == Subject::kThresholds) {
    return {true, compare(static_cast<double>(sizes.size())), fmt::format("thresholds is {} ({})", sizes.size(), list)};
  }
  return {true, any != is("!="), fmt::format("thresholds: {}", list)};
}

Observed Expectation::observe_finding(const Allocator& allocator, const Place& place) const {
  const std::vector<Point> points = audited_for_rules(allocator, place.case_name, place.size_bytes, place.timeout_s);
  for (const Point& point : points) {
    if (!has_result(point)) return unknown(fmt::format("{}: {}", word_of(point.status), point.reason.value_or("")));
  }
  std::uint64_t count = 0;
  std::string titles;
  for (const AllocatorFindings& all : find_findings(points, Json())) {
    for (const Finding& finding : all.findings) {
      if (finding.rule != name_) continue;
      ++count;
      titles += ": " + finding.title;
    }
  }
  return {true, compare(static_cast<double>(count)), fmt::format("{} is {}{}", name_, count, titles)};
}

Observed Expectation::observe(const Allocator& allocator, const Place& place) const {
  switch (subject_) {
    case Subject::kMetric:
      return observe_metric(allocator, place);
    case Subject::kThresholds:
    case Subject::kThreshold:
      return observe_thresholds(allocator, place);
    case Subject::kFinding:
      return observe_finding(allocator, place);
  }
  return {};
}

}  // namespace zerotax::bisect
