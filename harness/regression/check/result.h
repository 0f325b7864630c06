#pragma once

#include <string>
#include <vector>

#include "check/review.h"
#include "judge/comparison.h"
#include "os/load.h"
#include "point/allocator.h"

namespace zerotax::check {

// The fields below are keys of results/schema/check.schema.json, which describes them.

/// One allocator compared with its baseline.
struct CheckResult : CheckedSubject {
  Allocator allocator;
  Baseline baseline;  ///< what was compared of it
  Baseline measured;  ///< the new measurement of that
  Review review;
  std::vector<std::string> accepted_failures;  ///< failing_in_baseline
  Load load;                                   ///< under which it was measured
  std::vector<std::string> notes;  ///< sentences on what was done that nobody asked for, as taking a configuration over
};

using Check = CheckedSubjects<CheckResult>;

/// Metrics that were not compared because one side lacks them: what a baseline of an earlier version does not hold, and
/// what is n/a.
std::vector<NotCompared> metrics_not_compared(const Baseline& before, const Baseline& after);

/// What differs between two `measured_on`; each says whether it could explain any of the changes.
std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes);

/// Judges them together.
Check check_of(std::vector<CheckResult> results, bool strict);

/// Which way a point went, of all changes of it: "same", "better", "worse", "mixed", "neither".
const char* way_of(const Review& review, const PointIdentity& point);

}  // namespace zerotax::check
