#pragma once

#include <string>
#include <vector>

#include "check/review.h"
#include "core/allocators.h"

namespace zerotax::check {

/// A metric or threshold that says nothing in this check, and why.
struct NotCompared {
  std::string name;  ///< as BaselineChange::name, or the name of a metric that all points lack
  std::string why;   ///< "not the same each time it was measured", "depends on the clock", "within the tolerance"
};

/// A condition that differs between the machine of the baseline and this one.
struct ConditionDifference {
  std::string name;    ///< "kernel", "page_bytes", "thp", "cpus", "zerotax", …
  std::string before;  ///< in words; "unknown" in an older baseline
  std::string after;
  bool may_explain = false;  ///< whether it could explain a change; never for one that is unknown
};

/// One allocator held against its baseline.
struct CheckResult {
  Allocator allocator;
  std::string baseline_path;
  Baseline baseline;  ///< what was compared of it
  Review review;
  std::vector<NotCompared> not_compared;
  std::vector<std::string> accepted_failures;   ///< failing_in_baseline
  std::vector<ConditionDifference> conditions;  ///< what differs
  Json measured_on;                             ///< this machine, as in a baseline
  Json load;                                    ///< load averages at start and end against CPUs (os/load.h)
  std::string accept;                           ///< the command that accepts what is new
};

/// The object of "zerotax.check/1" (results/schema/check.schema.json). Every sentence that the terminal, JUnit,
/// Markdown or a page shows is in it.
Json check_json(const std::vector<CheckResult>& results, bool strict);

/// For people, of that object: the verdict, the groups, how to accept it; with `explain` every changed metric as well.
/// At most 80 columns but for paths.
std::string check_text(const Json& document, bool explain);

}  // namespace zerotax::check
