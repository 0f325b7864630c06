#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "judge/rule.h"

namespace zerotax {

/// The thresholds of a run: of the object of thresholds.json, or none of null.
struct MeasuredThresholds {
  std::vector<MeasuredThreshold> all;
  MeasuredThresholds() = default;
  MeasuredThresholds(const Json& document);  // NOLINT(google-explicit-constructor)
};

/// What a run measured beside its points.
struct BesidePoints {
  std::vector<Point> edges;     ///< on both sides of thresholds, one byte apart (edges_plan)
  std::vector<Point> controls;  ///< the same points on every host of a fleet
};

/// What rules look at, one for each allocator and configuration of a run, in order of appearance. It points into its
/// arguments.
std::vector<FindingSubject> subjects_of(const std::vector<Point>& points, const MeasuredThresholds& thresholds,
                                        const BesidePoints& beside);

/// Applies every rule to the points of a run, its thresholds and what was measured beside them. One entry per allocator
/// and configuration, in order of appearance, those without findings too. `rules`: the names of those to apply; all of
/// them if it is empty.
std::vector<AllocatorFindings> find_findings(const std::vector<Point>& points,
                                             const MeasuredThresholds& thresholds = {}, const BesidePoints& beside = {},
                                             const std::vector<std::string>& rules = {});

}  // namespace zerotax
