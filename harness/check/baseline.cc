#include "check/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/size.h"
#include "base/units.h"
#include "check/conditions.h"
#include "core/metric_json.h"

namespace zerotax::check {

using thresholds::describe_change;
using thresholds::tells_of_failing;
using thresholds::Threshold;
using thresholds::ThresholdSearch;
namespace {

void keep(std::initializer_list<Metric> metrics, const MetricValues& from, MetricValues& to) {
  for (const Metric metric : metrics) to[metric] = from[metric];
}

Point kept_of(const Point& measured) {
  Point point;
  point.case_name = measured.case_name;
  point.size_bytes = measured.size_bytes;
  point.touch = measured.touch;
  point.thread = measured.thread;
  point.status = measured.status;
  keep(kSteadyMetrics, measured, point);
  for (const FirstOperation& operation : measured.first_ops)
    keep(kEarlyMetrics, operation, point.first_ops.emplace_back());
  return point;
}

/// The same point of another baseline, or nullptr.
const Point* twin_of(const Point& point, const Baseline& baseline) {
  const auto found = std::find_if(baseline.points.begin(), baseline.points.end(),
                                  [&](const Point& other) { return identity_of(other) == identity_of(point); });
  return found == baseline.points.end() ? nullptr : &*found;
}

using Changes = std::vector<BaselineChange>;

void add_change(const Point& point, const std::string& where, BaselineChange change, Changes& changes) {
  change.point = identity_of(point);
  change.name = where;
  change.line = fmt::format("{}: before {}, now {}", where, change.before.dump(), change.after.dump());
  changes.push_back(std::move(change));
}

/// A number that can be a little off: of system calls, how many there are.
std::optional<double> number_of(const MetricValue& value) {
  if (value.calls() == nullptr) return value.number();
  double all = 0;
  for (const auto& [name, times] : *value.calls()) all += static_cast<double>(times);
  return all;
}

bool is_within(Metric metric, const MetricValue& before, const MetricValue& after, const Tolerances& tolerances) {
  const auto found = tolerances.find(metric);
  const auto one = number_of(before);
  const auto other = number_of(after);
  if (found == tolerances.end() || !one || !other) return false;
  const auto& [most, is_share] = found->second;
  return std::abs(*one - *other) <= (is_share ? most * *one : most);
}

/// A metric that one of them lacks was not measured then: no difference. `call`: of the first calls, from 1; else 0.
void compare_metrics(const Point& point, std::uint64_t call, std::initializer_list<Metric> metrics,
                     const MetricValues& before, const MetricValues& after, const Tolerances& tolerances,
                     Changes& changes) {
  const std::string where = name_of(point) + (call == 0 ? "" : fmt::format(", call {}", call));
  for (const Metric metric : metrics) {
    if (!before.is_measured(metric) || !after.is_measured(metric) || before[metric] == after[metric]) continue;
    if (is_within(metric, before[metric], after[metric], tolerances)) continue;
    BaselineChange change;
    change.metric = metric;
    change.call = call;
    change.before = to_json(before[metric]);
    change.after = to_json(after[metric]);
    add_change(point, fmt::format("{}, {}", where, row_of(metric).key), std::move(change), changes);
  }
}

void compare_points(const Point& before, const Point& after, const Tolerances& tolerances, Changes& changes) {
  if (before.status != after.status) {
    BaselineChange change;
    change.kind = ChangeKind::kStatus;
    change.before = word_of(before.status);
    change.after = word_of(after.status);
    add_change(before, name_of(before) + ", status", std::move(change), changes);
  }
  compare_metrics(before, 0, kSteadyMetrics, before, after, tolerances, changes);
  const std::size_t ops = std::min(before.first_ops.size(), after.first_ops.size());
  for (std::size_t i = 0; i < ops; ++i) {
    compare_metrics(before, i + 1, kEarlyMetrics, before.first_ops[i], after.first_ops[i], tolerances, changes);
  }
}

/// Thresholds are matched by size: one that is gone, one that is new, one that means something else.
void compare_thresholds(const std::vector<BaselineThreshold>& before, const std::vector<BaselineThreshold>& after,
                        Changes& changes) {
  const auto find = [](const std::vector<BaselineThreshold>& list, std::uint64_t at) {
    return std::find_if(list.begin(), list.end(), [&](const BaselineThreshold& each) { return each.at_bytes == at; });
  };
  const auto words = [](const Json& changes_there) { return changes_there.dump(); };
  const auto add = [&](std::uint64_t at, const Json& was, const Json& is) {
    BaselineChange change;
    change.kind = ChangeKind::kThreshold;
    change.at_bytes = at;
    change.before = was;
    change.after = is;
    change.name = fmt::format("the threshold at {} bytes", at);
    change.line = was.is_null()  ? fmt::format("there is a new threshold at {} bytes: {}", at, words(is))
                  : is.is_null() ? fmt::format("{} is gone: {}", change.name, words(was))
                                 : fmt::format("{}: before {}, now {}", change.name, words(was), words(is));
    changes.push_back(std::move(change));
  };
  for (const BaselineThreshold& old : before) {
    const auto found = find(after, old.at_bytes);
    if (found == after.end()) {
      add(old.at_bytes, old.changes, nullptr);
    } else if (old != *found) {
      add(old.at_bytes, old.changes, found->changes);
    }
  }
  for (const BaselineThreshold& now : after) {
    if (find(before, now.at_bytes) == before.end()) add(now.at_bytes, nullptr, now.changes);
  }
}

void agree(std::initializer_list<Metric> metrics, const MetricValues& other, const std::string& why,
           MetricValues& values) {
  for (const Metric metric : metrics) {
    if (!values.is_measured(metric) || other[metric].is_absent() || values[metric] == other[metric]) continue;
    values[metric] = MetricValue::not_available(why);
  }
}

}  // namespace

bool is_fault_metric(Metric metric) {
  return std::find(kFaultMetrics.begin(), kFaultMetrics.end(), metric) != kFaultMetrics.end();
}

std::string name_of(const Point& point) {
  return fmt::format("{} {} touch {:g} {}", point.case_name, format_size(point.size_bytes), point.touch, point.thread);
}

PointIdentity identity_of(const Point& point) { return {point.case_name, point.size_bytes, point.touch, point.thread}; }

Baseline baseline_of(const Allocator& allocator, const std::vector<Point>& points, const ThresholdSearch& thresholds,
                     const Json& environment, ClockMode clock) {
  Baseline baseline;
  baseline.allocator = allocator.name;
  baseline.version = version_json(allocator);
  baseline.env = allocator_json(allocator)["env"];
  baseline.measured_on = conditions_of(environment);
  baseline.clock = clock;
  for (const Point& point : points) baseline.points.push_back(kept_of(point));
  baseline.thresholds.emplace();
  for (const Threshold& threshold : thresholds.thresholds) {
    if (!threshold.exact()) continue;
    baseline.thresholds->push_back({threshold.at_bytes, describe_change(threshold.below, threshold.above)});
  }
  return baseline;
}

Baseline agreed_baseline(const Baseline& one, const Baseline& other, const std::string& why) {
  Baseline agreed = one;
  for (Point& point : agreed.points) {
    const Point* second = twin_of(point, other);
    if (second == nullptr) continue;
    if (is_healthy(point)) point.status = second->status;
    agree(kSteadyMetrics, *second, why, point);
    const std::size_t ops = std::min(point.first_ops.size(), second->first_ops.size());
    for (std::size_t i = 0; i < ops; ++i) agree(kEarlyMetrics, second->first_ops[i], why, point.first_ops[i]);
  }
  if (agreed.thresholds && other.thresholds) {
    std::erase_if(*agreed.thresholds, [&](const BaselineThreshold& each) {
      return std::find(other.thresholds->begin(), other.thresholds->end(), each) == other.thresholds->end();
    });
  }
  return agreed;
}

std::vector<BaselineChange> compare_baselines(const Baseline& before, const Baseline& after,
                                              const Tolerances& tolerances) {
  Changes changes;
  for (const Point& point : before.points) {
    if (const Point* found = twin_of(point, after)) compare_points(point, *found, tolerances, changes);
  }
  if (before.thresholds && after.thresholds) compare_thresholds(*before.thresholds, *after.thresholds, changes);
  return changes;
}

std::vector<BaselineChange> points_not_measured(const Baseline& before, const Baseline& after) {
  Changes missing;
  for (const Point& point : before.points) {
    if (twin_of(point, after) != nullptr) continue;
    const std::string name = name_of(point);
    BaselineChange change;
    change.point = identity_of(point);
    change.kind = ChangeKind::kNotMeasured;
    change.name = name;
    change.line = name + " is not measured any more";
    missing.push_back(std::move(change));
  }
  return missing;
}

std::vector<std::string> failing_in_baseline(const Baseline& baseline) {
  std::vector<std::string> lines;
  for (const Point& point : baseline.points) {
    if (!is_healthy(point)) lines.push_back(fmt::format("{}: {}", name_of(point), word_of(point.status)));
  }
  if (!baseline.thresholds) return lines;
  for (const BaselineThreshold& threshold : *baseline.thresholds) {
    for (const std::string& change : threshold.changes) {
      if (tells_of_failing(change)) lines.push_back(fmt::format("from {} bytes on: {}", threshold.at_bytes, change));
    }
  }
  return lines;
}

}  // namespace zerotax::check
