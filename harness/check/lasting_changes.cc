#include "check/lasting_changes.h"

#include <algorithm>

namespace zerotax::check {
namespace {

/// A change and how often it was there.
struct Seen {
  BaselineChange change;
  int times = 1;
};

/// Whether another measurement shows it too: of a range, on a side on which it was each time.
bool is_still_there(BaselineChange& change, const std::vector<BaselineChange>& now) {
  const auto found = std::find_if(now.begin(), now.end(), [&](const auto& each) { return each.name == change.name; });
  if (found == now.end()) return false;
  if (!change.range) return true;
  std::erase_if(change.ways, [&](const std::string& way) {
    return std::find(found->ways.begin(), found->ways.end(), way) == found->ways.end();
  });
  return !change.ways.empty();
}

std::vector<BaselineChange> changes_of(const std::vector<Seen>& seen) {
  std::vector<BaselineChange> changes;
  changes.reserve(seen.size());
  for (const Seen& each : seen) changes.push_back(each.change);
  return changes;
}

/// Those with the smallest blocks.
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

/// The names of changes that are not among others.
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
  std::vector<Seen> seen;
  for (BaselineChange& change : verdict.changes) seen.push_back({std::move(change)});
  // Measures a part again, and moves the names of what it does not show to `explained`.
  const auto again = [&](const BaselinePart& wanted, const PointTime& time, std::vector<std::string>& explained) {
    const std::vector<BaselineChange> now = compare_baselines(baseline, measure(wanted, time), tolerances);
    std::erase_if(seen, [&](Seen& each) {
      if (!is_in(each.change, wanted)) return false;
      ++each.times;
      const bool lasts = is_still_there(each.change, now);
      if (!lasts) explained.push_back(each.change.name);
      return !lasts;
    });
  };
  for (int time = 1; time < kTimesChanged && !seen.empty(); ++time) {
    BaselinePart part = part_of(changes_of(seen));
    part.busy = time % 2 == 1;
    again(part, conditions, verdict.unsteady);
  }
  std::vector<PointTime> controls{kPaused};
  if (conditions.clock == ClockMode::kReal) {
    controls = {{ClockMode::kStopped, 0}, {ClockMode::kRacing, 0}, {ClockMode::kReal, kPaused.pause_ns}};
  }
  for (const PointTime& control : controls) {
    if (seen.empty()) break;
    again(part_of(changes_of(seen)), control, verdict.by_the_clock);
  }
  const auto is_proven = [&](const Seen& each) {
    const bool steady = baseline.ranges.empty() && baseline.uncertain.empty() && verdict.unsteady.empty();
    return each.times >= (steady ? kTimesProven : kTimesProvenIfUnsteady);
  };
  for (int time = 1; !seen.empty() && std::none_of(seen.begin(), seen.end(), is_proven); ++time) {
    BaselinePart part = smallest_of(part_of(changes_of(seen)));
    part.busy = time % 2 == 1;
    again(part, conditions, verdict.unsteady);
  }
  verdict.changes = changes_of(seen);
  for (BaselineChange& missing : points_not_measured(baseline, verdict.measured))
    verdict.changes.push_back(std::move(missing));
  return verdict;
}

}  // namespace zerotax::check
