#include "check/lasting_changes.h"

#include <algorithm>

namespace zerotax::check {
namespace {

/// Moves the names of the changes that another measurement does not show to `explained`.
void keep_lasting(const Baseline& baseline, const Baseline& again, const Tolerances& tolerances,
                  std::vector<BaselineChange>& changes, std::vector<std::string>& explained) {
  const std::vector<BaselineChange> still = compare_baselines(baseline, again, tolerances);
  std::erase_if(changes, [&](const BaselineChange& change) {
    const bool lasts =
        std::any_of(still.begin(), still.end(), [&](const BaselineChange& other) { return other.name == change.name; });
    if (!lasts) explained.push_back(change.name);
    return !lasts;
  });
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
  part.faults = std::any_of(baseline.points.begin(), baseline.points.end(), [](const Point& point) {
    return std::any_of(kFaultMetrics.begin(), kFaultMetrics.end(),
                       [&](Metric metric) { return point.is_measured(metric); });
  });
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
  for (int again = 1; again < kTimesChanged && !verdict.changes.empty(); ++again) {
    keep_lasting(baseline, measure(part_of(verdict.changes), conditions), tolerances, verdict.changes,
                 verdict.unsteady);
  }
  std::vector<PointTime> controls{kPaused};
  if (conditions.clock == ClockMode::kReal) {
    controls = {{ClockMode::kStopped, 0}, {ClockMode::kRacing, 0}, {ClockMode::kReal, kPaused.pause_ns}};
  }
  for (const PointTime& control : controls) {
    if (verdict.changes.empty()) break;
    keep_lasting(baseline, measure(part_of(verdict.changes), control), tolerances, verdict.changes,
                 verdict.by_the_clock);
  }
  for (BaselineChange& missing : points_not_measured(baseline, verdict.measured))
    verdict.changes.push_back(std::move(missing));
  return verdict;
}

}  // namespace zerotax::check
