#pragma once

#include <vector>

#include "check/review.h"

namespace zerotax::check {

/// The cause that a change is attributed to.
struct Blame {
  Cause cause = Cause::kPlacement;
  Direction direction = Direction::kNeither;
  bool first_calls_only = false;
  bool judged = false;  ///< by a verdict function of findings; else by its metric alone

  /// Whether both belong to the same group, but for threads.
  [[nodiscard]] bool is_like(const Blame& other) const {
    return cause == other.cause && direction == other.direction && first_calls_only == other.first_calls_only;
  }
};

/// One for each change of a point, in their order; nothing is said of a threshold. A change that has no cause of its
/// own takes that of the same metric at the same size, under another touch or on another thread.
std::vector<Blame> blame_changes(const Baseline& before, const Baseline& after,
                                 const std::vector<BaselineChange>& changes);

/// The cause that a change of one metric alone is attributed to, and the words after its value, with a slot for the
/// plural; nullptr: its name for people.
struct MetricWords {
  Metric metric;
  Cause cause;
  const char* unit = nullptr;
};
/// Of one of kSteadyMetrics.
const MetricWords& words_of(Metric metric);

/// Whether a change by itself is for the better or worse: more is worse, and other words are neither.
Direction direction_of(const BaselineChange& change);

}  // namespace zerotax::check
