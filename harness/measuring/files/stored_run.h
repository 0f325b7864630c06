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

/// A file beside the points in a study's folder. The file contains the points at the two sizes beside each cliff
/// (edges_plan).
inline constexpr const char* kEdgesFile = "edges.json";

/// The stored results of a run.
struct StoredRun {
  Json environment;                                 ///< the run's environment, as stored
  std::map<std::string, Json> environments;         ///< for a run on several hosts, the environments by host
  std::optional<ComparableTimes> comparable_times;  ///< for a run on several hosts, the hosts whose times can be
                                                    ///< compared (fleet::comparable_times)
  std::vector<Point> points;
  std::vector<Point> controls;     ///< for a run on several hosts, the control points, measured on every host
  Json thresholds;                 ///< the object of "zerotax.thresholds/1", or null
  std::vector<Point> edges;        ///< points of edges.json, on both sides of thresholds, one byte apart
  std::vector<std::string> files;  ///< the files that were read; no output may overwrite them
};

/// Reads a results folder (run.json, points.jsonl and, if they exist, thresholds.json and edges.json) or a file of
/// `zerotax run --json`. Checks all files against their schemas. Leaves out a last line that was cut short. Throws
/// UsageError if `path` is neither, if a file is damaged, or if there are no points or two points with the same key.
StoredRun read_stored_run(const std::string& path);

/// Reads a results folder without its points, for a caller that already has the points.
StoredRun read_all_but_points(const std::string& folder);

/// Reads the points of points.jsonl with the same checks. With `by_host`, a point may occur once for each host. Throws
/// UsageError if the file is damaged.
std::vector<Point> read_stored_points(const std::string& file, bool by_host = false, std::uint64_t page = page_bytes());

}  // namespace zerotax
