#include "baseline/baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/fields.h"
#include "base/size.h"
#include "base/units.h"
#include "baseline/document.h"
#include "point/point_document.h"

namespace zerotax::baseline {

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

using Changes = std::vector<BaselineChange>;

void add_change(const PointIdentity& point, const std::string& where, BaselineChange change, Changes& changes) {
  change.point = point;
  change.name = where;
  const std::string before = change.range ? fmt::format("{} in {} runs", words_of(*change.range), change.range->runs)
                                          : json_line(to_json(change.before));
  change.line = fmt::format("{}: before {}, now {}", where, before, json_line(to_json(change.after)));
  changes.push_back(std::move(change));
}

/// Returns the value as a number, for comparison with a tolerance. For system calls, returns their total.
std::optional<double> number_of(const MetricValue& value) {
  if (value.calls() == nullptr) return value.number();
  double all = 0;
  for (const auto& [name, times] : *value.calls()) all += static_cast<double>(times);
  return all;
}

/// Returns the largest difference from `from` that the tolerance permits.
double most_of(const Tolerance* tolerance, double from) {
  if (tolerance == nullptr) return 0;
  return tolerance->is_share ? tolerance->most * from : tolerance->most;
}

bool is_within(const MetricValue& before, const MetricValue& after, const Tolerance* tolerance) {
  const auto one = number_of(before);
  const auto other = number_of(after);
  return tolerance != nullptr && one && other && std::abs(*one - *other) <= most_of(tolerance, *one);
}

/// If a value lies outside of the range, returns the nearest end of the range, and the side of the value: "-" (below)
/// or "+" (above).
std::optional<std::pair<std::uint64_t, const char*>> outside(std::uint64_t value, const Range& range,
                                                             const Tolerance* tolerance) {
  const std::uint64_t end = range.nearest(value);
  const auto beyond = static_cast<double>(range.beyond(value));
  if (beyond == 0 || beyond <= most_of(tolerance, static_cast<double>(end))) return std::nullopt;
  return std::pair(end, value < end ? "-" : "+");
}

MetricValue whole(std::uint64_t number) { return MetricValue::whole(static_cast<std::int64_t>(number)); }

void set_times(SystemCalls& calls, const std::string& name, std::uint64_t times) {
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& each) { return each.first == name; });
  if (found == calls.end()) {
    if (times != 0) calls.emplace_back(name, times);
  } else if (times == 0) {
    calls.erase(found);
  } else {
    found->second = times;
  }
}

/// Compares a value with the range that `bless` saw. If the value lies outside of the range, sets `before` and `ways`
/// of the change; otherwise leaves `ways` empty.
void compare_with_range(const SeenRange& range, const MetricValue& after, const Tolerance* tolerance,
                        BaselineChange& change) {
  if (const auto number = after.count()) {
    if (const auto out = outside(*number, range.number, tolerance)) {
      change.before = whole(out->first);
      change.ways.emplace_back(out->second);
    }
  } else if (const auto word = after.word()) {
    if (std::find(range.words.begin(), range.words.end(), *word) != range.words.end()) return;
    change.before = MetricValue::word(words_of(range));
    change.ways.push_back(*word);
  } else if (const SystemCalls* calls = after.calls()) {
    std::map<std::string, std::uint64_t> now(calls->begin(), calls->end());
    for (const auto& [name, ends] : range.calls) now.emplace(name, 0);
    SystemCalls before = *calls;
    for (const auto& [name, times] : now) {
      const auto seen = range.calls.find(name);
      const auto out = outside(times, seen == range.calls.end() ? Range() : seen->second, tolerance);
      if (!out) continue;
      set_times(before, name, out->first);
      change.ways.push_back(fmt::format("{} {}", name, out->second));
    }
    change.before = MetricValue::calls(std::move(before));
  }
}

/// Returns the change of a metric, if any. A metric that is n/a on one side has not changed.
std::optional<BaselineChange> change_of(const SeenRange* range, const MetricValue& before, const MetricValue& after,
                                        Metric metric, const Tolerances& tolerances) {
  BaselineChange change;
  change.metric = metric;
  change.after = after;
  if (!after.is_measured()) return std::nullopt;
  const auto found = tolerances.find(metric);
  const Tolerance* tolerance = found == tolerances.end() ? nullptr : &found->second;
  if (range != nullptr) {
    compare_with_range(*range, after, tolerance, change);
    if (change.ways.empty()) return std::nullopt;
    change.range = *range;
    return change;
  }
  if (!before.is_measured() || before == after || is_within(before, after, tolerance)) return std::nullopt;
  change.before = before;
  return change;
}

void compare_points(const Baseline& baseline, const Point& before, const Point& after, const Tolerances& tolerances,
                    Changes& changes) {
  if (before.status != after.status) {
    BaselineChange change;
    change.kind = ChangeKind::kStatus;
    change.before = MetricValue::word(word_of(before.status));
    change.after = MetricValue::word(word_of(after.status));
    const PointIdentity point = identity_of(before);
    add_change(point, name_of(point) + ", status", std::move(change), changes);
  }
  for (const Slot& slot : slots_of(before)) {
    const MetricValue* now = value_at(after, slot);
    if (now == nullptr) continue;
    auto change = change_of(range_of(baseline, slot), *value_at(before, slot), *now, slot.metric, tolerances);
    if (!change) continue;
    change->call = slot.call;
    add_change(slot.point, name_of(slot), std::move(*change), changes);
  }
}

/// Matches thresholds by size, and adds a change for each threshold that is gone, is new or has a different meaning.
void compare_thresholds(const std::vector<BaselineThreshold>& before, const std::vector<UncertainThreshold>& uncertain,
                        const std::vector<BaselineThreshold>& after, Changes& changes) {
  const auto find = [](const std::vector<BaselineThreshold>& list, std::uint64_t at) {
    return std::find_if(list.begin(), list.end(), [&](const BaselineThreshold& each) { return each.at_bytes == at; });
  };
  const auto add = [&](std::uint64_t at, const ThresholdChange& threshold) {
    BaselineChange change;
    change.kind = ChangeKind::kThreshold;
    change.at_bytes = at;
    change.threshold = threshold;
    change.name = fmt::format("the threshold at {} bytes", at);
    const std::string was = json_line(Json(threshold.before.value_or(BehaviourChanges())));
    const std::string is = json_line(Json(threshold.after.value_or(BehaviourChanges())));
    change.line = threshold.is_new()    ? fmt::format("there is a new threshold at {} bytes: {}", at, is)
                  : threshold.is_gone() ? fmt::format("{} is gone: {}", change.name, was)
                                        : fmt::format("{}: before {}, now {}", change.name, was, is);
    changes.push_back(std::move(change));
  };
  for (const BaselineThreshold& old : before) {
    const auto found = find(after, old.at_bytes);
    if (found == after.end()) {
      add(old.at_bytes, {old.changes, {}});
    } else if (old != *found) {
      add(old.at_bytes, {old.changes, found->changes});
    }
  }
  for (const BaselineThreshold& now : after) {
    const bool is_uncertain = std::any_of(uncertain.begin(), uncertain.end(),
                                          [&](const UncertainThreshold& each) { return each.holds(now.at_bytes); });
    if (!is_uncertain && find(before, now.at_bytes) == before.end()) add(now.at_bytes, {{}, now.changes});
  }
}

}  // namespace

bool is_fault_metric(Metric metric) {
  return std::find(kFaultMetrics.begin(), kFaultMetrics.end(), metric) != kFaultMetrics.end();
}

std::vector<Slot> slots_of(const Point& point) {
  const PointIdentity identity = identity_of(point);
  std::vector<Slot> slots;
  for (const Metric metric : kSteadyMetrics) slots.push_back({identity, 0, metric});
  for (std::size_t call = 1; call <= point.first_ops.size(); ++call) {
    for (const Metric metric : kEarlyMetrics) slots.push_back({identity, call, metric});
  }
  return slots;
}

const MetricValue* value_at(const Point& point, const Slot& slot) {
  if (slot.call > point.first_ops.size()) return nullptr;
  return slot.call == 0 ? &point[slot.metric] : &point.first_ops[slot.call - 1][slot.metric];
}

std::string name_of(const PointIdentity& point) {
  return fmt::format("{} {} touch {:g} {}", point.case_name, format_size(point.size_bytes), point.touch, point.thread);
}

std::string name_of(const Slot& slot) {
  return fmt::format("{}{}, {}", name_of(slot.point), slot.call == 0 ? "" : fmt::format(", call {}", slot.call),
                     row_of(slot.metric).key);
}

std::string name_of(const UncertainThreshold& threshold) {
  if (threshold.from_bytes == threshold.to_bytes) return fmt::format("a threshold at {} bytes", threshold.from_bytes);
  return fmt::format("a threshold between {} and {} bytes", threshold.from_bytes, threshold.to_bytes);
}

std::string words_of(const SeenRange& range) {
  if (!range.words.empty()) return fmt::format("{}", fmt::join(range.words, " or "));
  if (range.calls.empty())
    return fmt::format("{} to {}", format_count(range.number.low), format_count(range.number.high));
  std::vector<std::string> words;
  for (const auto& [name, ends] : range.calls) {
    words.push_back(ends.width() == 0 ? fmt::format("{} {}", name, ends.low)
                                      : fmt::format("{} {} to {}", name, ends.low, ends.high));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

PointIdentity identity_of(const PointSpec& spec) { return {spec.case_name, spec.size_bytes, spec.touch, spec.thread}; }

PointIdentity identity_of(const Point& point) { return {point.case_name, point.size_bytes, point.touch, point.thread}; }

const Point* point_of(const Baseline& baseline, const PointIdentity& identity) {
  const auto found = std::find_if(baseline.points.begin(), baseline.points.end(),
                                  [&](const Point& point) { return identity_of(point) == identity; });
  return found == baseline.points.end() ? nullptr : &*found;
}

const SeenRange* range_of(const Baseline& baseline, const Slot& slot) {
  const auto found =
      std::find_if(baseline.ranges.begin(), baseline.ranges.end(), [&](const Slot& each) { return each == slot; });
  return found == baseline.ranges.end() ? nullptr : &*found;
}

Baseline baseline_of(const Allocator& allocator, const std::vector<Point>& points, const ThresholdSearch& thresholds,
                     const Environment& environment, ClockMode clock) {
  Baseline baseline;
  baseline.allocator = allocator.name;
  baseline.version = version_json(allocator).get<Measured<std::string>>();
  baseline.env = allocator.env;
  baseline.measured_on = conditions_of(environment);
  baseline.clock = clock;
  for (const Point& point : points) baseline.points.push_back(kept_of(point));
  baseline.thresholds.emplace();
  for (const Threshold& threshold : thresholds.thresholds) {
    BehaviourChanges changes = describe_change(threshold.below, threshold.above);
    if (threshold.exact()) {
      baseline.thresholds->push_back({threshold.at_bytes, std::move(changes)});
    } else {
      baseline.uncertain.push_back({threshold.after_bytes + 1, threshold.at_bytes, std::move(changes), 1, 1});
    }
  }
  return baseline;
}

std::vector<BaselineChange> compare_baselines(const Baseline& before, const Baseline& after,
                                              const Tolerances& tolerances) {
  Changes changes;
  for (const Point& point : before.points) {
    if (const Point* found = point_of(after, identity_of(point)))
      compare_points(before, point, *found, tolerances, changes);
  }
  if (before.thresholds && after.thresholds)
    compare_thresholds(*before.thresholds, before.uncertain, *after.thresholds, changes);
  return changes;
}

bool lasts(BaselineChange& change, const BaselineChange& again) {
  std::erase_if(change.ways, [&](const std::string& way) {
    return std::find(again.ways.begin(), again.ways.end(), way) == again.ways.end();
  });
  return !change.range || !change.ways.empty();
}

std::vector<BaselineChange> points_not_measured(const Baseline& before, const Baseline& after) {
  Changes missing;
  for (const Point& point : before.points) {
    if (point_of(after, identity_of(point)) != nullptr) continue;
    BaselineChange change;
    change.point = identity_of(point);
    change.kind = ChangeKind::kNotMeasured;
    change.name = name_of(*change.point);
    change.line = change.name + " is no longer measured";
    missing.push_back(std::move(change));
  }
  return missing;
}

std::vector<std::string> failing_in_baseline(const Baseline& baseline) {
  std::vector<std::string> lines;
  for (const Point& point : baseline.points) {
    if (!is_healthy(point)) lines.push_back(fmt::format("{}: {}", name_of(identity_of(point)), word_of(point.status)));
  }
  if (!baseline.thresholds) return lines;
  for (const BaselineThreshold& threshold : *baseline.thresholds) {
    for (const BehaviourChange& change : threshold.changes) {
      if (change.fails) lines.push_back(fmt::format("from {} bytes on: {}", threshold.at_bytes, change.words));
    }
  }
  return lines;
}

}  // namespace zerotax::baseline
