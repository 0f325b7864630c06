#pragma once

#include <cstdint>
#include <vector>

#include "check/baseline.h"
#include "judge/search.h"
#include "point/plan.h"
#include "run/experiment.h"

namespace zerotax::check {

/// What is measured of one allocator side by side: points, and a search for thresholds.
struct Work {
  Plan plan;                         ///< its points, of one allocator
  PointTime time;                    ///< of every point and of the search
  bool faults = false;               ///< of the points, by a pass of their own
  std::vector<std::uint64_t> grid;   ///< sizes between which all thresholds are searched, in bytes; empty: none is
  unsigned grid_looks = 1;           ///< how often each of them is looked at, to find the noisy ones
  std::vector<std::uint64_t> edges;  ///< without a grid: sizes at which to look whether there is a threshold
  std::vector<UncertainThreshold> uncertain;  ///< gaps of the grid that lie inside one of these are not searched
  bool busy = false;                          ///< beside a busy thread per CPU: what load decides comes out

  [[nodiscard]] bool searches() const { return !grid.empty() || !edges.empty(); }
  /// Those known at the start: points, sizes of the grid, edges.
  [[nodiscard]] std::size_t tasks() const { return plan.points.size() + grid.size() * grid_looks + edges.size(); }
  [[nodiscard]] double expected_seconds() const;
};

struct WorkDone {
  std::vector<Point> points;  ///< as in the plan
  ThresholdSearch search;     ///< empty if nothing was searched
  Baseline baseline;          ///< of both; without thresholds if nothing was searched
};

/// Measures it as part of an experiment, with the machine's environment at its end. The grid is looked at first, then
/// gaps are searched whose ends differ, beside the points. A size of the grid at which two looks differ is noisy: what
/// lies between its neighbours is uncertain, and is not searched, because bisecting noise would never end. Throws Stop.
WorkDone measure_work(const Work& work, Experiment& experiment);

}  // namespace zerotax::check
