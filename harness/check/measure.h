#pragma once

#include <vector>

#include "base/json.h"
#include "check/lasting_changes.h"
#include "core/allocators.h"

namespace zerotax::check {

/// Measures the deterministic figures of one allocator, audits side by side, with progress: all of a baseline for
/// nullptr, else a part of it. Throws UsageError if interrupted.
Json measure_baseline(const Allocator& allocator, double timeout_s, const BaselinePart* part, const PointTime& time);

/// A baseline that was just made.
struct NewBaseline {
  Json baseline;
  std::vector<Json> measured;  ///< what it was made from, each of the form of a baseline
};

/// What is to be accepted as the baseline of an allocator: measured twice with its clock stopped, and once more with
/// pauses between its calls. A figure that was not the same each time is n/a. "by_the_clock" has the names of those
/// that are others where the clock races.
NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s);

}  // namespace zerotax::check
