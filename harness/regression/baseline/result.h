#pragma once

#include <string>
#include <vector>

#include "baseline/program.h"
#include "baseline/review.h"
#include "judge/comparison.h"
#include "os/load.h"
#include "point/plan.h"

namespace zerotax::baseline {

// The fields below are keys in JSON; results/schema/check.schema.json and program_check.schema.json describe them.

/// One allocator compared with its baseline.
struct AllocatorCheck : CheckedSubject {
  Allocator allocator;
  Baseline baseline;  ///< the part of the baseline that was compared
  Baseline measured;  ///< the new measurement of that part
  Review review;
  std::vector<std::string> accepted_failures;  ///< failing_in_baseline
  Load load;                                   ///< load of the machine during the measurement
  std::vector<std::string> notes;  ///< sentences on defaults that were applied, such as the baseline's configuration
};
using AllocatorChecks = CheckedSubjects<AllocatorCheck>;

/// A command compared with its baseline.
struct ProgramCheck : CheckedSubject {
  runs::Command subject;
  Program baseline;
  runs::CommandRun measured;  ///< the first run
  std::uint64_t runs = 0;
  std::vector<ProgramChange> changes;  ///< worse, better, neither; changes of the whole command first
  std::vector<SiteChange> sites;       ///< places that differ, those with most bytes first
  bool strict = false;
  bool passed = true;
  std::string advice;  ///< how the program could change; empty: the counts do not show it
};
using ProgramChecks = CheckedSubjects<ProgramCheck>;

/// Metrics that were not compared because one side lacks them: an earlier version's baseline does not hold the metric,
/// or it is n/a.
std::vector<NotCompared> metrics_not_compared(const Baseline& before, const Baseline& after);

/// The conditions that differ between two `measured_on` of allocators. Each says whether it could explain any of the
/// changes.
std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes);

/// Judges all results together.
AllocatorChecks checks_of(std::vector<AllocatorCheck> results, bool strict);
ProgramChecks checks_of(std::vector<ProgramCheck> results);

/// The check of a command, with changes, places that differ, conditions, verdict and sentence. `same` is the sentence
/// of a command without changes, after the number of metrics: "as in the baseline".
ProgramCheck check_of(const Program& baseline, Judged judged, const Json& measured_on, const std::string& same);

/// The verdict in one line: the metric that changed most, how, and the place that explains most of it; or, after the
/// number of metrics, `same`.
std::string sentence_of(const ProgramCheck& check, const std::string& same);

/// How the program could change to undo the increase, by the table in judge/evidence.h; empty if the counts of the run
/// do not show it.
std::string advice_of(const ProgramCheck& check);

/// The direction of all changes of a point together: "same", "better", "worse", "mixed", "neither".
const char* way_of(const Review& review, const PointIdentity& point);

}  // namespace zerotax::baseline
