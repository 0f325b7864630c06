#pragma once

#include <string>
#include <vector>

#include "compare/verdict.h"
#include "files/stored_run.h"

namespace zerotax::compare {

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
