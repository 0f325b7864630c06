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

/// The calls at each point of a baseline. Behavior can change until the fifth call.
inline constexpr Repeats kBaselineRepeats{8, 8, 8, 8, 0};

/// The points whose deterministic figures a baseline holds, for one allocator: every case, with nothing and with
/// everything touched, on both threads. Its sizes lie on both sides of known thresholds of allocators.
Plan baseline_plan(const Allocator& allocator, double timeout_s);

/// The range in which a baseline holds thresholds, in bytes, and the number of sizes per octave that are looked at
/// first.
struct BaselineRange {
  std::uint64_t from;
  std::uint64_t to;
  unsigned per_octave;
};
BaselineRange baseline_range();

/// "<allocator>-<version>.json", with dashes for characters that do not belong in a file name.
std::string baseline_file_name(const Allocator& allocator);

/// Points and a search for thresholds of one allocator, measured side by side.
struct Work : BaselinePart {
  Plan plan;                        ///< the points
  PointTime time;                   ///< for every point and the search
  std::vector<std::uint64_t> grid;  ///< sizes between which all thresholds are searched, in bytes; empty: none is

  [[nodiscard]] bool searches() const { return !grid.empty() || !edges.empty(); }
  /// The number of tasks known at the start: points, sizes of the grid, edges.
  [[nodiscard]] std::size_t tasks() const { return plan.points.size() + grid.size() * grid_looks + edges.size(); }
  [[nodiscard]] double expected_seconds() const;
};

struct WorkDone {
  std::vector<Point> points;  ///< as in the plan
  ThresholdSearch search;     ///< empty if nothing was searched
  Baseline baseline;          ///< from points and search; without thresholds if nothing was searched
};

/// Does the work as part of an experiment, and adds the machine's environment at the end. Looks at the grid first. Then
/// searches the gaps whose ends differ, beside the points. A size of the grid at which two looks differ is noisy. The
/// range between its neighbors is uncertain and not searched, because bisecting noise would never end. Throws Stop.
WorkDone measure_work(const Work& work, Experiment& experiment);

/// Measures parts of a baseline of one allocator, side by side, with one progress for all of them.
class Measurer {
 public:
  Measurer(const Allocator& allocator, double timeout_s);

  /// Announces that a part will be measured `times` times, so that the estimate of the remaining time includes it.
  void expect(const BaselinePart& part, const PointTime& time, std::size_t times = 1);
  /// Throws Stop.
  Baseline measure(const BaselinePart& part, const PointTime& time);

 private:
  const Allocator& allocator_;
  double timeout_s_;
  Experiment experiment_;
};

/// A baseline that was just made.
struct NewBaseline {
  Baseline baseline;
  std::vector<Baseline> measured;  ///< the measurements behind it
};

/// The number of times that `bless` measures a point that differs from run to run.
inline constexpr std::size_t kRunsOfWhatDiffers = 6;

/// Measures a new baseline of an allocator twice with its clock stopped, the second time beside busy threads, and once
/// more with pauses between its calls. If any metric of a point is not the same each time, the point is measured
/// kRunsOfWhatDiffers times, and the baseline holds the range seen (agreed_baseline). by_the_clock names the metrics
/// that change when the clock races. With `sizes`, the baseline has only points of these sizes. `thresholds` says
/// whether thresholds are searched for.
NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s,
                                 const std::vector<std::uint64_t>& sizes = {}, bool thresholds = true);

/// Throws UsageError for a size of which baselines have no point.
void check_sizes(const std::vector<std::uint64_t>& sizes);

}  // namespace zerotax::baseline
