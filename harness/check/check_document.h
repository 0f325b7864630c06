#pragma once

#include <string>
#include <vector>

#include "base/palette.h"
#include "check/conditions.h"
#include "check/review.h"
#include "core/allocators.h"

namespace zerotax::check {

/// What says nothing in a check, and why: a metric of one point (BaselineChange::name), one that all points lack (its
/// key), "thresholds", or "points of other sizes".
struct NotCompared {
  std::string name;
  std::string why;  ///< "depends on the clock", "within the tolerance", "left out by --only"
};

/// One allocator held against its baseline.
struct CheckResult {
  Allocator allocator;
  std::string baseline_path;
  Baseline baseline;  ///< what was compared of it
  Baseline measured;  ///< the new measurement of that
  Review review;
  std::vector<NotCompared> not_compared;
  std::vector<std::string> accepted_failures;   ///< failing_in_baseline
  std::vector<ConditionDifference> conditions;  ///< what differs between the machine of the baseline and this one
  Json measured_on;                             ///< this machine, as in a baseline
  Json load;                                    ///< under which it was measured (os/load.h)
  std::vector<std::string> notes;  ///< sentences on what was done that nobody asked for, as taking a configuration over
  std::string accept;              ///< the command that accepts what is new
};

/// Metrics that were not compared because one side lacks them: what a baseline of an earlier version does not hold, and
/// what is n/a.
std::vector<NotCompared> metrics_not_compared(const Baseline& before, const Baseline& after);

/// The object of "zerotax.check/1" (results/schema/check.schema.json). Every sentence that the terminal or anything
/// else shows is in it. `strict`: improvements fail, too.
Json check_json(const std::vector<CheckResult>& results, bool strict);

/// Of that object, the exit status of `zerotax check`: kDone if nothing changed, or for the better alone; else
/// kFinding.
ExitStatus status_of(const Json& document);

/// For people, of that object: the verdict, the groups, how to accept it; with `explain` every changed metric as well.
/// The first line is the verdict; the others have at most 80 columns, but for paths and names.
std::string check_text(const Json& document, bool explain, const Palette& palette = {});

/// What to do next, as a command to paste: of a check that failed, the same once more with --explain (`command`: the
/// words of the command line), or if it was given, what accepts the first change. Empty if nothing changed.
std::string next_step(const Json& document, bool explain, std::vector<std::string> command);

}  // namespace zerotax::check
