#pragma once

#include <string>
#include <vector>

#include "compare/verdict.h"
#include "files/stored_run.h"
#include "point/plan.h"
#include "run/planning.h"

namespace zerotax::compare {

/// The two allocators of a comparison from the words OLD and NEW (NAME, NAME=PATH, or the path of a library) and the
/// --env words, whose name is an allocator's, or "old" or "new". Both may be the same. Throws UsageError.
std::pair<Allocator, Allocator> resolve_sides(const std::string& before, const std::string& after,
                                              const std::vector<std::string>& env);

/// What is compared, and how often.
struct ComparePlan {
  Allocator before;
  Allocator after;
  PlanAxes axes;
  Cost cost = Cost::kTotal;
  unsigned pairs = 16;      ///< of processes at each point
  double timeout_s = 60;    ///< of one process
  std::uint64_t coins = 0;  ///< seed of the coins that say who of a pair goes first
};

/// The points of a plan, with nothing measured yet.
std::vector<ComparedPoint> planned_points(const ComparePlan& plan);

/// Measures both allocators at every point: audits of each (what they do), and pairs of timing processes, one right
/// after the other (what it costs). Where the audits differ they are made again, so that a figure that only sometimes
/// is another is not taken for a difference. Returns false if a signal asked for an end; what was measured until then
/// is in `points`.
bool measure_comparison(const ComparePlan& plan, std::vector<ComparedPoint>& points);

/// A run as it is stored: a results folder, its run.json, or the file of `zerotax run --json`.
struct RunFile : StoredRun {
  std::string path;

  /// Where a point was measured.
  [[nodiscard]] const Json& environment_of(const Point& point) const;
};

/// Throws UsageError if it cannot be read, or is not a run of this version's schema.
RunFile read_run_file(const std::string& path);

/// Whether a word names a stored run: a folder, or a file that is not a library.
bool is_run_file(const std::string& word);

/// The conditions that differ between two environments (os/environment.h) and can change figures: "kernel: 6.1.0
/// and 6.18.44". Empty if there are none.
std::string differing_conditions(const Json& before, const Json& after);

/// The points of both runs, paired by allocator, case, size, touch and thread, in OLD's order; those of NEW alone last.
/// If each run holds one allocator, these two are compared whatever their names. Throws UsageError for a damaged run.
std::vector<ComparedPoint> compare_run_files(const RunFile& before, const RunFile& after, Cost cost);

}  // namespace zerotax::compare
