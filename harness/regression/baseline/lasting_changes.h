#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "point/plan.h"

namespace zerotax::baseline {

/// A part of a baseline to measure again.
struct BaselinePart {
  std::vector<PointIdentity> points;
  bool thresholds = false;  ///< search them all
  unsigned grid_looks = 1;  ///< in such a search: number of looks at each size of the grid, to find noisy sizes
  std::vector<std::uint64_t> known;           ///< in such a search: earlier thresholds, in bytes
  std::vector<UncertainThreshold> uncertain;  ///< in such a search: gaps of the grid inside one of these are skipped
  /// Sizes at which to look whether there is a threshold, in bytes: two probes each, where a search takes hundreds.
  std::vector<std::uint64_t> edges;
  bool faults = true;  ///< of the points, by a pass of their own; without it they are n/a
  bool busy = false;   ///< run a busy thread per CPU beside it, so that effects of load show
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

/// How often each metric must be found changed, each time in a fresh process; every other time beside busy threads.
inline constexpr int kTimesChanged = 3;

/// How often one of them must be: without it there is no alarm. More often where anything was not the same each time,
/// in the baseline or now. If an allocator does what it did, a metric lies outside of the range of n runs, on the same
/// side, in each of k more with a probability of at most 2 / C(n + k, k), whatever its distribution: of 6 and 20 that
/// is 1 in 115,115.
inline constexpr int kTimesProven = 10;
inline constexpr int kTimesProvenIfUnsteady = 20;

/// So many points, or edges, are measured so often: those with the smallest blocks, which take least time.
inline constexpr std::size_t kProvenSideBySide = 4;

/// Pauses long enough to show what depends on a clock that cannot be stopped: longer than the delays after
/// which allocators purge at once (mimalloc: 10 ms).
inline constexpr PointTime kPaused{ClockMode::kStopped, 25'000'000};

/// Measures again, under its conditions, what a baseline holds, and then what differs, again and again. A difference
/// lasts if it is there each time, of a range on the same side, and if no other passing of time explains it: with
/// pauses between the calls; for a baseline that was measured with the real clock, also with the clock stopped, and
/// racing. One must be there kTimesProven times (kTimesProvenIfUnsteady), or none of them lasts.
BaselineVerdict hold_against(const Baseline& baseline, const MeasureAgain& measure, const Tolerances& tolerances = {});

/// Reasons why a metric is n/a in a baseline although it was measured.
inline constexpr const char* kByAClock = "depends on a clock that cannot be stopped";
inline constexpr const char* kNotTheSame = "not the same each time it was measured";

/// Joins measurements of one allocator. `runs`: with its clock stopped, some beside busy threads. `paused`: with pauses
/// between its calls. All but the first run may lack points and thresholds. A metric
///
/// - that was the same in all measurements is held;
/// - that was the same in all runs, but differed in each of at least two paused ones, is n/a: it depends on a clock
///   that cannot be stopped;
/// - that differs otherwise is n/a, and its range is held (Baseline::ranges).
///
/// A point that fails in one measurement fails. A threshold on which measurements do not agree is uncertain.
Baseline agreed_baseline(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused = {});

/// The points at which any metric differs between measurements, each once, in the order of the first measurement.
std::vector<PointIdentity> points_that_differ(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused);

}  // namespace zerotax::baseline
