#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "snapshot/run.h"

namespace zerotax::snapshot {

/// Why there is nothing of a run that was not made.
inline constexpr const char* kNotRun = "interrupted before it was run";

/// A metric of one run.
using Figure = std::function<std::int64_t(const SnapshotRun&)>;

/// What the program printed under a name; and the time between two of these.
Figure figure_of(const char* name);
Figure time_between(const char* earlier, const char* later);

/// Median, 5th and 95th percentile over runs, of which there must be some: an object of "spread" in
/// results/schema/snapshot.schema.json.
Json spread_json(const std::vector<SnapshotRun>& runs, const Figure& figure);

/// CPU time and faults of held runs: of the writers once they went on, and of the helper. An object of "after_end" in
/// that schema.
Json after_end_json(const std::vector<SnapshotRun>& runs);

/// The child's CPU time of the timing runs, of which there must be some, and the batches that it unmapped in the last
/// of them. An object of "child" in that schema.
Json child_json(const std::vector<SnapshotRun>& runs, const SnapshotParameters& parameters);

}  // namespace zerotax::snapshot
