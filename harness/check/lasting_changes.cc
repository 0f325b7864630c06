#include "check/lasting_changes.h"

#include <algorithm>

namespace zerotax::check {
namespace {

BaselinePart part_of(const std::vector<BaselineChange>& changes) {
  BaselinePart part;
  for (const BaselineChange& change : changes) {
    if (!change.point) {
      part.edges.push_back(change.at_bytes);
    } else if (std::find(part.points.begin(), part.points.end(), *change.point) == part.points.end()) {
      part.points.push_back(*change.point);
    }
  }
  return part;
}

/// Moves the names of the changes that another measurement does not show to `explained`.
void keep_lasting(const Baseline& baseline, const Baseline& again, std::vector<BaselineChange>& changes,
                  std::vector<std::string>& explained) {
  const std::vector<BaselineChange> still = compare_baselines(baseline, again);
  std::erase_if(changes, [&](const BaselineChange& change) {
    const bool lasts =
        std::any_of(still.begin(), still.end(), [&](const BaselineChange& other) { return other.name == change.name; });
    if (!lasts) explained.push_back(change.name);
    return !lasts;
  });
}

}  // namespace

BaselinePart whole_of(const Baseline& baseline) {
  BaselinePart part;
  for (const Point& point : baseline.points) part.points.push_back(identity_of(point));
  part.thresholds = baseline.thresholds.has_value();
  return part;
}

BaselineVerdict hold_against(const Baseline& baseline, const MeasureAgain& measure) {
  const PointTime conditions{baseline.clock, 0};
  BaselineVerdict verdict;
  const BaselinePart whole = whole_of(baseline);
  const Baseline now = measure(&whole, conditions);
  verdict.changes = compare_baselines(baseline, now);
  for (int again = 1; again < kTimesChanged && !verdict.changes.empty(); ++again) {
    const BaselinePart part = part_of(verdict.changes);
    keep_lasting(baseline, measure(&part, conditions), verdict.changes, verdict.unsteady);
  }
  std::vector<PointTime> controls{kPaused};
  if (conditions.clock == ClockMode::kReal) {
    controls = {{ClockMode::kStopped, 0}, {ClockMode::kRacing, 0}, {ClockMode::kReal, kPaused.pause_ns}};
  }
  for (const PointTime& control : controls) {
    if (verdict.changes.empty()) break;
    const BaselinePart part = part_of(verdict.changes);
    keep_lasting(baseline, measure(&part, control), verdict.changes, verdict.by_the_clock);
  }
  for (BaselineChange& missing : points_not_measured(baseline, now)) verdict.changes.push_back(std::move(missing));
  return verdict;
}

}  // namespace zerotax::check
