#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "baseline/baseline.h"
#include "baseline/lasting_changes.h"
#include "judge/search.h"
#include "point/plan.h"
#include "run/experiment.h"

namespace zerotax::baseline {

/// Number of calls at each point of a baseline. Behavior can change until the fifth call.
inline constexpr Repeats kBaselineRepeats{8, 8, 8, 8, 0};

/// Returns the points that a baseline of one allocator contains: every case, with no memory and with all memory
/// touched, on both threads. The sizes lie on both sides of known thresholds of allocators.
Plan baseline_plan(const Allocator& allocator, double timeout_s);

/// Bounds of the sizes between which a baseline contains thresholds, in bytes, and the number of initial sizes per
/// octave.
struct BaselineRange {
  std::uint64_t from;
  std::uint64_t to;
  unsigned per_octave;
};
BaselineRange baseline_range();

/// Returns "<allocator>-<version>.json", with dashes in place of characters that do not belong in a file name.
std::string baseline_file_name(const Allocator& allocator);

/// Points and a threshold search of one allocator, measured at the same time.
struct Work : BaselinePart {
  Plan plan;                        ///< plan with the points
  PointTime time;                   ///< the clock of every point and of the search
  std::vector<std::uint64_t> grid;  ///< sizes between which all thresholds are searched, in bytes; empty if there is no
                                    ///< search

  [[nodiscard]] bool searches() const { return !grid.empty() || !edges.empty(); }
  /// The number of tasks known at the start: points, sizes of the grid and edges.
  [[nodiscard]] std::size_t tasks() const { return plan.points.size() + grid.size() * grid_looks + edges.size(); }
  [[nodiscard]] double expected_seconds() const;
};

struct WorkDone {
  std::vector<Point> points;  ///< the points, in the order of the plan
  ThresholdSearch search;     ///< results of the search; empty if there was no search
  Baseline baseline;          ///< baseline made from the points and the search; without thresholds if there was no
                              ///< search
};

/// Does the work as part of an experiment, and adds the machine's environment at the end. Probes the grid first. Then
/// searches the gaps whose ends differ, while the points are measured. A size of the grid at which two probes differ is
/// noisy. The range between the neighbors of a noisy size counts as uncertain and is not searched, because bisecting
/// noise would not end. Throws Stop.
WorkDone measure_work(const Work& work, Experiment& experiment);

/// Measures parts of a baseline of one allocator at the same time, with one common progress.
class Measurer {
 public:
  Measurer(const Allocator& allocator, double timeout_s);

  /// Announces that a part will be measured `times` times, so that the estimate of the remaining time includes these
  /// measurements.
  void expect(const BaselinePart& part, const PointTime& time, std::size_t times = 1);
  /// Measures a part. Throws Stop.
  Baseline measure(const BaselinePart& part, const PointTime& time);

 private:
  const Allocator& allocator_;
  double timeout_s_;
  Experiment experiment_;
};

/// A new baseline and its measurements.
struct NewBaseline {
  Baseline baseline;
  std::vector<Baseline> measured;  ///< the measurements from which the baseline was made
};

/// The number of times that `bless` measures a point that differs from run to run.
inline constexpr std::size_t kRunsOfWhatDiffers = 6;

/// Measures a new baseline of an allocator. The allocator's clock is stopped in two measurements, the second of which
/// runs beside busy threads. A third measurement has pauses between its calls. If any metric of a point varies, the
/// point is measured kRunsOfWhatDiffers times, and the baseline stores the range that was seen (agreed_baseline).
/// by_the_clock names the metrics that change if the allocator's clock is racing (ClockMode). With `sizes`, the
/// baseline has only points of these sizes. `thresholds` states whether thresholds are searched.
NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s,
                                 const std::vector<std::uint64_t>& sizes = {}, bool thresholds = true);

/// Throws UsageError for a size at which baselines have no point.
void check_sizes(const std::vector<std::uint64_t>& sizes);

}  // namespace zerotax::baseline
