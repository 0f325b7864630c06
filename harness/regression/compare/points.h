#pragma once

#include <string>
#include <vector>

#include "compare/verdict.h"
#include "files/stored_run.h"
#include "point/plan.h"
#include "run/planning.h"

namespace zerotax::compare {

/// Returns the two allocators of a comparison. OLD and NEW are each NAME, NAME=PATH, or the path of a library. Each
/// --env word names an allocator, or "old" or "new". Both sides may be the same allocator. Throws UsageError.
std::pair<Allocator, Allocator> resolve_sides(const std::string& before, const std::string& after,
                                              const std::vector<std::string>& env);

/// The sides and points of a comparison, and its number of pairs.
struct ComparePlan {
  Allocator before;
  Allocator after;
  PlanAxes axes;
  Cost cost = Cost::kTotal;
  unsigned pairs = 16;      ///< pairs of processes at each point
  double timeout_s = 60;    ///< time limit of one process
  std::uint64_t coins = 0;  ///< seed of the random choice of which process of a pair goes first
};

/// Returns the points of a plan, without measurements.
std::vector<ComparedPoint> planned_points(const ComparePlan& plan);

/// Measures both allocators at every point. Audits show the work of each allocator. Pairs of timing processes show the
/// cost; the two processes of a pair run one right after the other. At points at which audits differ, further audits
/// follow, so that a metric that varies within a side is not mistaken for a difference. Returns false if a signal
/// requested an end; in this case, `points` contains the finished measurements.
bool measure_comparison(const ComparePlan& plan, std::vector<ComparedPoint>& points);

/// A stored run: a results folder, its run.json, or the file of `zerotax run --json`.
struct RunFile : StoredRun {
  std::string path;

  /// Returns the environment in which a point was measured.
  [[nodiscard]] const Json& environment_of(const Point& point) const;
};

/// Reads a stored run. Throws UsageError if the file is unreadable, or is not a run of this version's schema.
RunFile read_run_file(const std::string& path);

/// Returns whether a word names a stored run: a folder, or a file that is not a library.
bool is_run_file(const std::string& word);

/// Returns the conditions that differ between two environments (os/environment.h) and can change metrics, such as
/// "kernel: 6.1.0 and 6.18.44". Empty if there are none.
std::string differing_conditions(const Json& before, const Json& after);

/// Returns the points of both runs, paired by allocator, case, size, touch and thread, in OLD's order. Points that
/// exist only in NEW come last. If each run has one allocator, these two are compared whatever their names. Throws
/// UsageError for a damaged run.
std::vector<ComparedPoint> compare_run_files(const RunFile& before, const RunFile& after, Cost cost);

}  // namespace zerotax::compare
