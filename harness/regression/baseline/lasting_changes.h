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
  bool thresholds = false;           ///< search the whole range for thresholds
  unsigned grid_looks = 1;           ///< in a search: number of probes at each size of the grid, to find noisy sizes
  std::vector<std::uint64_t> known;  ///< in a search: earlier thresholds, in bytes
  std::vector<UncertainThreshold> uncertain;  ///< in a search: uncertain thresholds; the search skips the gaps of the
                                              ///< grid around them
  /// Sizes to test for a threshold, in bytes. Each test takes two probes, and a search takes hundreds.
  std::vector<std::uint64_t> edges;
  bool faults = true;  ///< measure the faults of the points, in a separate pass; if false, faults are n/a
  bool busy = false;   ///< run a busy thread on each CPU during the measurement, so that effects of load show
};

/// Returns everything that a baseline contains. The file may have been cut down to some points, with or without
/// thresholds, and a baseline of an earlier version has no faults.
BaselinePart whole_of(const Baseline& baseline);

/// Returns the part that contains these changes. Thresholds are represented by their edges.
BaselinePart part_of(const std::vector<BaselineChange>& changes);

/// Measures a part of a baseline with the clock `time` for the allocator. The result has thresholds if the part asks
/// for thresholds or edges.
using MeasureAgain = std::function<Baseline(const BaselinePart& part, const PointTime& time)>;

/// The result of comparing a baseline with new measurements.
struct BaselineVerdict {
  std::vector<BaselineChange> changes;    ///< changes that every measurement showed
  std::vector<std::string> unsteady;      ///< names of metrics that equaled the baseline at least once
  std::vector<std::string> by_the_clock;  ///< names of metrics that equal the baseline only if the allocator's clock
                                          ///< runs differently
  std::vector<std::string> tolerated;     ///< names of metrics whose difference is within the tolerance
  Baseline measured;                      ///< the first new measurement
};

/// Number of measurements that must all show a change. Each measurement runs in a fresh process, and every second
/// measurement runs beside busy threads.
inline constexpr int kTimesChanged = 3;

/// Number of measurements in which at least one change must last, or there is no alarm. The number is larger if any
/// metric varied, in the baseline or now. The bound holds for any distribution. By chance, a metric of an unchanged
/// allocator can lie on one side of the range of n runs in each of k further runs. The probability of this is at most 2
/// / C(n + k, k), which for 6 and 20 runs is 1 in 115,115.
inline constexpr int kTimesProven = 10;
inline constexpr int kTimesProvenIfUnsteady = 20;

/// Maximum number of points, or of edges, that are measured repeatedly. The points with the smallest blocks are chosen,
/// because they take the least time.
inline constexpr std::size_t kProvenSideBySide = 4;

/// A pause long enough to reveal dependence on a clock that cannot be stopped. The pause exceeds the delays after which
/// allocators purge (mimalloc: 10 ms).
inline constexpr PointTime kPaused{ClockMode::kStopped, 25'000'000};

/// Measures the content of a baseline again under its conditions, and then measures each difference repeatedly. A
/// difference lasts if every measurement shows it (for a range, on the same side). A difference that disappears with
/// pauses between the calls does not last. If the baseline was measured with the real clock, a difference that
/// disappears with a stopped or racing clock (ClockMode) does not last either. At least one difference must last
/// kTimesProven times (kTimesProvenIfUnsteady if any metric varied), or none is reported.
BaselineVerdict hold_against(const Baseline& baseline, const MeasureAgain& measure, const Tolerances& tolerances = {});

/// Reasons why a metric is n/a in a baseline although it was measured.
inline constexpr const char* kByAClock = "depends on a clock that cannot be stopped";
inline constexpr const char* kNotTheSame = "not the same each time it was measured";

/// Joins measurements of one allocator. `runs` were made with its clock stopped, some beside busy threads, and `paused`
/// with pauses between its calls. All but the first run may lack points and thresholds. A metric
///
/// - that was the same in all measurements is stored;
/// - that was the same in all runs, but differed in each of at least two paused measurements, is n/a, because it
/// depends on a clock that cannot be stopped;
/// - that differed otherwise is n/a, and its range is stored (Baseline::ranges).
///
/// A point that fails in one measurement counts as failing. A threshold on which measurements do not agree is
/// uncertain.
Baseline agreed_baseline(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused = {});

/// Returns the points at which any metric differs between measurements, each once, in the order of the first
/// measurement.
std::vector<PointIdentity> points_that_differ(const std::vector<Baseline>& runs, const std::vector<Baseline>& paused);

}  // namespace zerotax::baseline
