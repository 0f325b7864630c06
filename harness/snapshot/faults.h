#pragma once

#include "base/json.h"
#include "snapshot/run.h"

namespace zerotax::snapshot {

/// The faults of a run, from the instant of the snapshot to the writers' end: the parent's on the array before and
/// after the child's end (or that of the copying threads), over time, elsewhere, and the child's; beside the kernel's
/// own count. An object of "faults" in results/schema/snapshot.schema.json.
Json snapshot_faults_json(const SnapshotRun& run);

}  // namespace zerotax::snapshot
