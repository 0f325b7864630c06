#include "check/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
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

std::string point_name(const Point& point) {
  return fmt::format("{} {} touch {:g} {}", point.case_name, format_size(point.size_bytes), point.touch, point.thread);
}

/// The same point of another baseline, or nullptr.
const Point* twin_of(const Point& point, const Baseline& baseline) {
  const auto found = std::find_if(baseline.points.begin(), baseline.points.end(),
                                  [&](const Point& other) { return identity_of(other) == identity_of(point); });
  return found == baseline.points.end() ? nullptr : &*found;
}

using Changes = std::vector<BaselineChange>;

void add_change(const Point& point, const std::string& where, const Json& before, const Json& after, Changes& changes) {
  changes.push_back(
      {identity_of(point), 0, where, fmt::format("{}: before {}, now {}", where, before.dump(), after.dump())});
}

/// A metric that one of them lacks was not measured then: no difference.
void compare_metrics(const Point& point, const std::string& where, std::initializer_list<Metric> metrics,
                     const MetricValues& before, const MetricValues& after, Changes& changes) {
  for (const Metric metric : metrics) {
    if (!before.is_measured(metric) || !after.is_measured(metric) || before[metric] == after[metric]) continue;
    add_change(point, fmt::format("{}, {}", where, row_of(metric).key), to_json(before[metric]), to_json(after[metric]),
               changes);
  }
}

void compare_points(const Point& before, const Point& after, Changes& changes) {
  const std::string name = point_name(before);
  if (before.status != after.status) {
    add_change(before, name + ", status", word_of(before.status), word_of(after.status), changes);
  }
  compare_metrics(before, name, kSteadyMetrics, before, after, changes);
  const std::size_t ops = std::min(before.first_ops.size(), after.first_ops.size());
  for (std::size_t i = 0; i < ops; ++i) {
    compare_metrics(before, fmt::format("{}, call {}", name, i + 1), kEarlyMetrics, before.first_ops[i],
                    after.first_ops[i], changes);
  }
}

/// Thresholds are matched by size: one that is gone, one that is new, one that means something else.
void compare_thresholds(const std::vector<BaselineThreshold>& before, const std::vector<BaselineThreshold>& after,
                        Changes& changes) {
  const auto find = [](const std::vector<BaselineThreshold>& list, std::uint64_t at) {
    return std::find_if(list.begin(), list.end(), [&](const BaselineThreshold& each) { return each.at_bytes == at; });
  };
  const auto add = [&](const BaselineThreshold& threshold, const std::string& line) {
    changes.push_back(
        {std::nullopt, threshold.at_bytes, fmt::format("the threshold at {} bytes", threshold.at_bytes), line});
  };
  const auto words = [](const BaselineThreshold& threshold) { return Json(threshold.changes).dump(); };
  for (const BaselineThreshold& old : before) {
    const auto found = find(after, old.at_bytes);
    if (found == after.end()) {
      add(old, fmt::format("the threshold at {} bytes is gone: {}", old.at_bytes, words(old)));
    } else if (old != *found) {
      add(old, fmt::format("the threshold at {} bytes: before {}, now {}", old.at_bytes, words(old), words(*found)));
    }
  }
  for (const BaselineThreshold& now : after) {
    if (find(before, now.at_bytes) != before.end()) continue;
    add(now, fmt::format("there is a new threshold at {} bytes: {}", now.at_bytes, words(now)));
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

PointIdentity identity_of(const Point& point) { return {point.case_name, point.size_bytes, point.touch, point.thread}; }

Baseline baseline_of(const Allocator& allocator, const std::vector<Point>& points, const ThresholdSearch& thresholds,
                     const Json& environment, ClockMode clock) {
  Baseline baseline;
  baseline.allocator = allocator.name;
  baseline.version = version_json(allocator);
  baseline.env = allocator_json(allocator)["env"];
  baseline.measured_on = {
      {"kernel", environment.at("kernel")}, {"cpu", environment.at("cpu")}, {"thp", environment.at("thp")}};
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

std::vector<BaselineChange> compare_baselines(const Baseline& before, const Baseline& after) {
  Changes changes;
  for (const Point& point : before.points) {
    if (const Point* found = twin_of(point, after)) compare_points(point, *found, changes);
  }
  if (before.thresholds && after.thresholds) compare_thresholds(*before.thresholds, *after.thresholds, changes);
  return changes;
}

std::vector<BaselineChange> points_not_measured(const Baseline& before, const Baseline& after) {
  Changes missing;
  for (const Point& point : before.points) {
    if (twin_of(point, after) != nullptr) continue;
    const std::string name = point_name(point);
    missing.push_back({identity_of(point), 0, name, name + " is not measured any more"});
  }
  return missing;
}

std::vector<std::string> failing_in_baseline(const Baseline& baseline) {
  std::vector<std::string> lines;
  for (const Point& point : baseline.points) {
    if (!is_healthy(point)) lines.push_back(fmt::format("{}: {}", point_name(point), word_of(point.status)));
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
