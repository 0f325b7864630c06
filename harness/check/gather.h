#pragma once

#include <vector>

#include "check/baseline.h"

namespace zerotax::check {

/// Why a metric is n/a in a baseline though it was measured.
inline constexpr const char* kByAClock = "depends on a clock that cannot be stopped";
inline constexpr const char* kNotTheSame = "not the same each time it was measured";

/// What measurements of one allocator add up to. `runs`: with its clock stopped, some of them beside busy threads;
/// `paused`: with pauses between its calls. All but the first run may lack points and thresholds. A metric
///
/// - that was the same in all of them is held;
/// - that was the same in all runs and another in each of two paused ones or more is n/a: it depends on a clock that
///   cannot be stopped;
/// - that differs otherwise is n/a, and its range is held (Baseline::ranges).
///
/// A point that fails in one of them fails. A threshold on which they do not agree is uncertain.
Baseline agreed_baseline(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused = {});

/// The points at which any metric differs between measurements: each once, as in the first.
std::vector<PointIdentity> points_that_differ(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused);

}  // namespace zerotax::check
