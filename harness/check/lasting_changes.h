#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/baseline.h"
#include "core/plan.h"

namespace zerotax::check {

/// A part of a baseline that is to be measured again.
struct BaselinePart {
  std::vector<PointIdentity> points;
  bool thresholds = false;  ///< search them all
  /// Sizes at which to look whether there is a threshold, in bytes: two probes each, where a search takes hundreds.
  std::vector<std::uint64_t> edges;
  bool faults = true;  ///< of the points, by a pass of their own; without it they are n/a
};

/// All that a baseline holds: its file may have been cut down to some points, with or without thresholds, and one of an
/// earlier version has no faults.
BaselinePart whole_of(const Baseline& baseline);

/// The part in which changes are: of thresholds their edges.
BaselinePart part_of(const std::vector<BaselineChange>& changes);

/// Measures a part of a baseline, with what is given as the allocator's time. The answer has thresholds if they or
/// edges were asked for.
using MeasureAgain = std::function<Baseline(const BaselinePart& part, const PointTime& time)>;

/// What a new measurement says of a baseline.
struct BaselineVerdict {
  std::vector<BaselineChange> changes;    ///< they were there in each measurement
  std::vector<std::string> unsteady;      ///< names of figures that were as in the baseline at least once
  std::vector<std::string> by_the_clock;  ///< names of figures that are as in the baseline where time goes otherwise
  std::vector<std::string> tolerated;     ///< names of figures that differ, within their tolerance
  Baseline measured;                      ///< the first new measurement
};

/// How often a metric must be found changed, each time in a fresh process.
inline constexpr int kTimesChanged = 3;

/// Pauses long enough to show what depends on a clock that cannot be stopped: longer than the delays after
/// which allocators purge at once (mimalloc: 10 ms).
inline constexpr PointTime kPaused{ClockMode::kStopped, 25'000'000};

/// Measures again, under its conditions, what a baseline holds, and then what differs, again and again. A difference
/// lasts if it is there each time, and if no other passing of time explains it: with pauses between the calls; for a
/// baseline that was measured with the real clock, also with the clock stopped, and racing.
BaselineVerdict hold_against(const Baseline& baseline, const MeasureAgain& measure, const Tolerances& tolerances = {});

}  // namespace zerotax::check
