#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "files/results.h"
#include "os/page.h"
#include "point/typed_point.h"

namespace zerotax {

/// A file in a study's folder, beside its points: the measurements at the two sizes of each threshold that matters.
inline constexpr const char* kEdgesFile = "edges.json";

/// The results of a run: read, never written to.
struct StoredRun {
  Json environment;                                 ///< where it was measured, as it was written
  std::map<std::string, Json> environments;         ///< of a fleet, those of its hosts by name
  std::optional<ComparableTimes> comparable_times;  ///< of a fleet (fleet::leave_out_times)
  std::vector<Point> points;
  std::vector<Point> controls;     ///< of a fleet: the same points, measured on every host
  Json thresholds;                 ///< the object of "zerotax.thresholds/1", or null
  std::vector<Point> edges;        ///< of edges.json: on both sides of thresholds, one byte apart
  std::vector<std::string> files;  ///< what was read: nothing may be written there
};

/// Reads a results folder (run.json, points.jsonl, thresholds.json and edges.json if they are there) or the file of
/// `zerotax run --json`, and checks all of it against its schemas. A last line that was cut short is left out. Throws
/// UsageError if it is neither, or damaged, or has no point at all or one twice.
StoredRun read_stored_run(const std::string& path);

/// The same of a results folder whose points are known already: none of them is read.
StoredRun read_all_but_points(const std::string& folder);

/// The points of points.jsonl, checked as those of a stored run. `by_host`: a point may occur once for each host.
/// Throws UsageError.
std::vector<Point> read_stored_points(const std::string& file, bool by_host = false, std::uint64_t page = page_bytes());

}  // namespace zerotax
