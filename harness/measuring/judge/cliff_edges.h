#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/rule.h"
#include "point/plan.h"

namespace zerotax {

/// A size at which faults or zeroed bytes change by ten times, and a measured point on each side of it.
struct CliffEdge {
  std::uint64_t at_bytes;
  const Point* below;
  const Point* above;
  std::string words;  ///< what changes, from below to above

  /// Whether the two points are one byte apart.
  [[nodiscard]] bool is_exact() const { return below->size_bytes + 1 == above->size_bytes; }
};

/// Those of a subject, lane by lane. Where its edges were measured, they are the two points.
std::vector<CliffEdge> cliff_edges(const FindingSubject& subject);

/// What is still to be measured to say what one byte changes: the two sizes of each cliff of a run whose points are
/// further apart, as often as the run measured the point below. `plan`: of the run; `thresholds`: as find_findings.
Plan edges_plan(const Plan& plan, const std::vector<Point>& points, const MeasuredThresholds& thresholds);

}  // namespace zerotax
