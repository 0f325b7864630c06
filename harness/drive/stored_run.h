#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// What a run left: read, never written to.
struct StoredRun {
  Json environment;  ///< where it was measured, or null
  std::vector<Json> points;
  Json thresholds;  ///< the object of "zerotax.thresholds/1", or null
};

/// Reads a results folder (run.json, points.jsonl, thresholds.json if it is there) or the file of `zerotax run --json`.
/// A last line that was cut short is left out. Throws UsageError if it is neither, or damaged.
StoredRun read_stored_run(const std::string& path);

}  // namespace zerotax
