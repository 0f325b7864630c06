#include "baseline/lasting_changes.h"

#include <algorithm>
#include <functional>
#include <set>

namespace zerotax::baseline {
namespace {

/// Keeps only the smallest points and edges.
BaselinePart smallest_of(BaselinePart part) {
  const auto by_size = [](const PointIdentity& one, const PointIdentity& other) {
    return one.size_bytes < other.size_bytes;
  };
  std::stable_sort(part.points.begin(), part.points.end(), by_size);
  std::sort(part.edges.begin(), part.edges.end());
  if (part.points.size() > kProvenSideBySide) part.points.resize(kProvenSideBySide);
  if (part.edges.size() > kProvenSideBySide) part.edges.resize(kProvenSideBySide);
  return part;
}

bool is_in(const BaselineChange& change, const BaselinePart& part) {
  if (!change.point) return std::find(part.edges.begin(), part.edges.end(), change.at_bytes) != part.edges.end();
  return std::find(part.points.begin(), part.points.end(), *change.point) != part.points.end();
}

/// Returns the names of `changes` that are not among `others`.
std::vector<std::string> names_without(const std::vector<BaselineChange>& changes,
                                       const std::vector<BaselineChange>& others) {
  std::vector<std::string> names;
  for (const BaselineChange& change : changes) {
    const bool other =
        std::any_of(others.begin(), others.end(), [&](const auto& each) { return each.name == change.name; });
    if (!other) names.push_back(change.name);
  }
  return names;
}

using Values = std::vector<const MetricValue*>;

/// Returns the values of a slot in each measurement, including n/a. A measurement that lacks the point adds none.
Values values_of(const std::vector<Baseline>& measured, const Slot& slot) {
  Values values;
  for (const Baseline& each : measured) {
    const Point* point = point_of(each, slot.point);
    const MetricValue* value = point == nullptr ? nullptr : value_at(*point, slot);
    if (value != nullptr && !value->is_absent()) values.push_back(value);
  }
  return values;
}

bool all_equal(const Values& values, const MetricValue& value) {
  return std::all_of(values.begin(), values.end(), [&](const MetricValue* each) { return *each == value; });
}

/// Returns the range of these values, all of which are measured.
SeenRange range_of(const Slot& slot, const Values& values) {
  constexpr Range kNone{UINT64_MAX, 0};
  SeenRange range{slot, values.size(), kNone, {}, {}};
  for (const MetricValue* value : values) {
    if (const auto number = value->count()) {
      range.number.add(*number);
    } else if (const auto word = value->word()) {
      if (std::find(range.words.begin(), range.words.end(), *word) == range.words.end()) range.words.push_back(*word);
    } else if (value->calls() != nullptr) {
      for (const auto& [name, times] : *value->calls()) range.calls[name] = kNone;
    }
  }
  if (range.number == kNone) range.number = {};
  for (auto& [name, ends] : range.calls) {
    for (const MetricValue* value : values) {
      std::uint64_t times = 0;
      for (const auto& [other, count] : *value->calls()) times = other == name ? count : times;
      ends.add(times);
    }
  }
  std::sort(range.words.begin(), range.words.end());
  return range;
}

/// Leaves a metric unchanged if all measurements agree. Otherwise, makes the metric n/a, and may store its range.
void agree(const Slot& slot, const std::vector<Baseline>& runs, const std::vector<Baseline>& paused, MetricValue& value,
           std::vector<SeenRange>& ranges) {
  if (!value.is_measured()) return;
  Values stopped = values_of(runs, slot);
  const Values slow = values_of(paused, slot);
  const bool steady = all_equal(stopped, value);
  if (steady && all_equal(slow, value)) return;
  // At least two paused measurements must differ, because a single difference can be chance.
  const bool never_when_slow =
      slow.size() > 1 && std::none_of(slow.begin(), slow.end(), [&](const auto* each) { return *each == value; });
  if (steady && never_when_slow) {
    value = MetricValue::not_available(kByAClock);
    return;
  }
  stopped.insert(stopped.end(), slow.begin(), slow.end());
  // The metric gets a range only if every measurement has a value.
  if (std::all_of(stopped.begin(), stopped.end(), [](const MetricValue* each) { return each->is_measured(); })) {
    ranges.push_back(range_of(slot, stopped));
  }
  value = MetricValue::not_available(kNotTheSame);
}

/// A change of behavior that one run saw. Sightings are later joined into uncertain thresholds.
struct Sighting {
  std::size_t run;
  UncertainThreshold at;
  bool is_noise = false;  ///< whether the change is uncertain even within one run; `seen` then counts probes instead of
                          ///< runs
};

/// Returns whether a sighting belongs to an uncertain threshold: their sizes overlap, or a different run saw the same
/// change at a different size.
bool belongs(const Sighting& sighting, const UncertainThreshold& to, const std::set<std::size_t>& runs) {
  const bool overlaps = sighting.at.from_bytes <= to.to_bytes && to.from_bytes <= sighting.at.to_bytes;
  return overlaps || (!runs.contains(sighting.run) && sighting.at.changes == to.changes);
}

void add_sighting(const Sighting& sighting, UncertainThreshold& to) {
  to.from_bytes = std::min(to.from_bytes, sighting.at.from_bytes);
  to.to_bytes = std::max(to.to_bytes, sighting.at.to_bytes);
  for (const BehaviourChange& change : sighting.at.changes) {
    if (std::find(to.changes.begin(), to.changes.end(), change) == to.changes.end()) to.changes.push_back(change);
  }
}

std::vector<UncertainThreshold> joined(const std::vector<Sighting>& sightings, std::size_t searches) {
  std::vector<UncertainThreshold> found;
  std::vector<std::set<std::size_t>> runs;
  for (const Sighting& sighting : sightings) {
    std::size_t i = 0;
    while (i < found.size() && !belongs(sighting, found[i], runs[i])) ++i;
    if (i == found.size()) {
      found.push_back(sighting.at);
      runs.emplace_back();
    }
    add_sighting(sighting, found[i]);
    if (sighting.is_noise) continue;
    runs[i].insert(sighting.run);
    found[i].seen = runs[i].size();
    found[i].looks = searches;
  }
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
    return std::pair(one.from_bytes, one.to_bytes) < std::pair(other.from_bytes, other.to_bytes);
  });
  return found;
}

/// Keeps the thresholds on which all runs agree. All other thresholds become uncertain.
void agree_on_thresholds(const std::vector<Baseline>& runs, Baseline& agreed) {
  std::vector<const Baseline*> searched;
  for (const Baseline& run : runs) {
    if (run.thresholds) searched.push_back(&run);
  }
  if (searched.empty()) return;
  const auto is_seen_by_all = [&](const BaselineThreshold& threshold) {
    return std::all_of(searched.begin(), searched.end(), [&](const Baseline* run) {
      return std::find(run->thresholds->begin(), run->thresholds->end(), threshold) != run->thresholds->end();
    });
  };
  std::vector<Sighting> sightings;
  for (std::size_t i = 0; i < searched.size(); ++i) {
    for (const BaselineThreshold& each : *searched[i]->thresholds) {
      if (!is_seen_by_all(each)) sightings.push_back({i, {each.at_bytes, each.at_bytes, each.changes, 1, 1}});
    }
    for (const UncertainThreshold& each : searched[i]->uncertain) sightings.push_back({i, each, true});
  }
  std::erase_if(*agreed.thresholds, std::not_fn(is_seen_by_all));
  agreed.uncertain = joined(sightings, searched.size());
}

}  // namespace

BaselinePart part_of(const std::vector<BaselineChange>& changes) {
  BaselinePart part;
  part.faults = std::any_of(changes.begin(), changes.end(), [](const BaselineChange& change) {
    return change.kind == ChangeKind::kStatus || (change.metric && is_fault_metric(*change.metric));
  });
  for (const BaselineChange& change : changes) {
    if (!change.point) {
      part.edges.push_back(change.at_bytes);
    } else if (std::find(part.points.begin(), part.points.end(), *change.point) == part.points.end()) {
      part.points.push_back(*change.point);
    }
  }
  return part;
}

BaselinePart whole_of(const Baseline& baseline) {
  BaselinePart part;
  for (const Point& point : baseline.points) part.points.push_back(identity_of(point));
  part.thresholds = baseline.thresholds.has_value();
  if (part.thresholds) {
    for (const BaselineThreshold& each : *baseline.thresholds) part.known.push_back(each.at_bytes);
    part.uncertain = baseline.uncertain;
  }
  part.faults = std::any_of(baseline.points.begin(), baseline.points.end(), [](const Point& point) {
    return std::any_of(kFaultMetrics.begin(), kFaultMetrics.end(),
                       [&](Metric metric) { return point.is_measured(metric); });
  });
  part.faults |= std::any_of(baseline.ranges.begin(), baseline.ranges.end(),
                             [](const SeenRange& range) { return is_fault_metric(range.metric); });
  return part;
}

BaselineVerdict hold_against(const Baseline& baseline, const MeasureAgain& measure, const Tolerances& tolerances) {
  const PointTime conditions{baseline.clock, 0};
  BaselineVerdict verdict;
  const BaselinePart whole = whole_of(baseline);
  verdict.measured = measure(whole, conditions);
  verdict.changes = compare_baselines(baseline, verdict.measured, tolerances);
  if (!tolerances.empty()) {
    verdict.tolerated = names_without(compare_baselines(baseline, verdict.measured), verdict.changes);
  }
  std::vector<BaselineChange>& changes = verdict.changes;
  // Measures a part again, and moves the names of changes that it no longer shows to `explained`.
  const auto again = [&](const BaselinePart& wanted, const PointTime& time, std::vector<std::string>& explained) {
    keep_lasting(changes, compare_baselines(baseline, measure(wanted, time), tolerances), explained,
                 [&](const BaselineChange& change) { return is_in(change, wanted); });
  };
  for (int time = 1; time < kTimesChanged && !changes.empty(); ++time) {
    BaselinePart part = part_of(changes);
    part.busy = time % 2 == 1;
    again(part, conditions, verdict.unsteady);
  }
  std::vector<PointTime> controls{kPaused};
  if (conditions.clock == ClockMode::kReal) {
    controls = {{ClockMode::kStopped, 0}, {ClockMode::kRacing, 0}, {ClockMode::kReal, kPaused.pause_ns}};
  }
  for (const PointTime& control : controls) {
    if (!changes.empty()) again(part_of(changes), control, verdict.by_the_clock);
  }
  const auto is_proven = [&](const BaselineChange& change) {
    const bool steady = baseline.ranges.empty() && baseline.uncertain.empty() && verdict.unsteady.empty();
    return change.times >= (steady ? kTimesProven : kTimesProvenIfUnsteady);
  };
  for (int time = 1; !changes.empty() && std::none_of(changes.begin(), changes.end(), is_proven); ++time) {
    BaselinePart part = smallest_of(part_of(changes));
    part.busy = time % 2 == 1;
    again(part, conditions, verdict.unsteady);
  }
  for (BaselineChange& missing : points_not_measured(baseline, verdict.measured)) changes.push_back(std::move(missing));
  return verdict;
}

Baseline agreed_baseline(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused) {
  Baseline agreed = runs.front();
  for (Point& point : agreed.points) {
    for (const auto* measured : {&runs, &paused}) {
      for (const Baseline& each : *measured) {
        const Point* twin = point_of(each, identity_of(point));
        if (twin != nullptr && is_healthy(point)) point.status = twin->status;
      }
    }
    for (const Slot& slot : slots_of(point)) {
      MetricValues& values = slot.call == 0 ? static_cast<MetricValues&>(point) : point.first_ops[slot.call - 1];
      agree(slot, runs, paused, values[slot.metric], agreed.ranges);
    }
  }
  agree_on_thresholds(runs, agreed);
  return agreed;
}

std::vector<PointIdentity> points_that_differ(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused) {
  std::vector<PointIdentity> found;
  for (const Point& point : runs.front().points) {
    const std::vector<Slot> slots = slots_of(point);
    const bool differs = std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) {
      const MetricValue& value = *value_at(point, slot);
      return value.is_measured() &&
             !(all_equal(values_of(runs, slot), value) && all_equal(values_of(paused, slot), value));
    });
    if (differs) found.push_back(identity_of(point));
  }
  return found;
}

}  // namespace zerotax::baseline
