#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/baseline.h"
#include "core/plan.h"
#include "thresholds/search.h"

namespace zerotax::check {

/// What is measured of one allocator side by side: points, and beside them one search for thresholds.
struct Work {
  Plan plan;                         ///< its points, of one allocator
  PointTime time;                    ///< of every point and of the search
  bool faults = false;               ///< of the points, by a pass of their own
  std::vector<std::uint64_t> grid;   ///< sizes between which all thresholds are searched, in bytes; empty: none is
  std::vector<std::uint64_t> edges;  ///< without a grid: sizes at which to look whether there is a threshold
  std::size_t side_by_side = 0;      ///< processes at a time, at most; 0: as many as there are CPUs

  [[nodiscard]] bool searches() const { return !grid.empty() || !edges.empty(); }
  [[nodiscard]] std::size_t tasks() const { return plan.points.size() + (searches() ? 1 : 0); }
};

/// What the caller hears of. All are called from one thread at a time.
struct WorkWatch {
  std::function<void(const std::string& what)> begins = [](const std::string&) {};
  std::function<void()> ends = [] {};
  std::function<void()> interrupted;  ///< throws
};

struct WorkDone {
  std::vector<Point> points;           ///< as in the plan
  thresholds::ThresholdSearch search;  ///< empty if nothing was searched
  Baseline baseline;                   ///< of both; without thresholds if nothing was searched
};

/// Measures it, with the machine's environment at its end. Throws what `watch.interrupted` throws once a stop was
/// requested.
WorkDone measure_work(const Work& work, const WorkWatch& watch);

}  // namespace zerotax::check
