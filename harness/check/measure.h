#pragma once

#include <vector>

#include "check/lasting_changes.h"
#include "core/allocators.h"

namespace zerotax::check {

/// Measures a part of a baseline, side by side, with progress. Throws UsageError if interrupted.
Baseline measure_baseline(const Allocator& allocator, double timeout_s, const BaselinePart& part,
                          const PointTime& time);

/// A baseline that was just made.
struct NewBaseline {
  Baseline baseline;
  std::vector<Baseline> measured;  ///< what it was made from
};

/// What is to be accepted as the baseline of an allocator: measured twice with its clock stopped, and once more with
/// pauses between its calls. A metric that was not the same each time is n/a; by_the_clock names those that
/// change when the clock races. With `sizes` only of points of these; `thresholds` says whether they are searched.
NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s,
                                 const std::vector<std::uint64_t>& sizes = {}, bool thresholds = true);

/// Throws UsageError for a size of which baselines have no point.
void check_sizes(const std::vector<std::uint64_t>& sizes);

}  // namespace zerotax::check
