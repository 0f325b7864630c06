#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/rule.h"
#include "point/plan.h"

namespace zerotax {

/// A size at which faults or zeroed bytes change by a factor of ten or more, with a measured point on each side.
struct CliffEdge {
  std::uint64_t at_bytes;
  const Point* below;
  const Point* above;
  std::string words;  ///< the change from `below` to `above`, in words

  /// Whether the sizes of the two points differ by one byte.
  [[nodiscard]] bool is_exact() const { return below->size_bytes + 1 == above->size_bytes; }
};

/// Returns the cliff edges of a subject, lane by lane. If both sizes next to a threshold were measured, their points
/// are the two sides of the edge.
std::vector<CliffEdge> cliff_edges(const FindingSubject& subject);

/// Returns the points to measure so that the effect of one byte is known. For each cliff whose measured points are more
/// than one byte apart, the points are the two sizes at the threshold. Each size is measured as often as the run
/// measured the point below the cliff. `plan` is the run's plan; `thresholds` must be the same as for find_findings.
Plan edges_plan(const Plan& plan, const std::vector<Point>& points, const MeasuredThresholds& thresholds);

}  // namespace zerotax
