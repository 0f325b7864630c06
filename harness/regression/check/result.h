#pragma once

#include <string>
#include <vector>

#include "check/review.h"
#include "judge/comparison.h"
#include "os/load.h"
#include "point/plan.h"

namespace zerotax::check {

// The fields below are keys of results/schema/check.schema.json, which describes them.

/// One allocator compared with its baseline.
struct CheckResult : CheckedSubject {
  Allocator allocator;
  Baseline baseline;  ///< the part of the baseline that was compared
  Baseline measured;  ///< the new measurement of that part
  Review review;
  std::vector<std::string> accepted_failures;  ///< failing_in_baseline
  Load load;                                   ///< load of the machine during the measurement
  std::vector<std::string> notes;  ///< sentences on defaults that were applied, such as the baseline's configuration
};

using Check = CheckedSubjects<CheckResult>;

/// Metrics that were not compared because one side lacks them: an earlier version's baseline does not hold the metric,
/// or it is n/a.
std::vector<NotCompared> metrics_not_compared(const Baseline& before, const Baseline& after);

/// The conditions that differ between two `measured_on`. Each says whether it could explain any of the changes.
std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes);

/// Judges all results together.
Check check_of(std::vector<CheckResult> results, bool strict);

/// The direction of all changes of a point together: "same", "better", "worse", "mixed", "neither".
const char* way_of(const Review& review, const PointIdentity& point);

}  // namespace zerotax::check
