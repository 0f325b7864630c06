#pragma once

#include "snapshot/result.h"

namespace zerotax::snapshot {

/// The object of "zerotax.snapshot/1" (results/schema/snapshot.schema.json).
Json snapshot_json(const Snapshot& snapshot);

/// From such an object, which keeps to its schema, of this version or an earlier one.
Snapshot read_snapshot(const Json& json);

/// The object of "zerotax.snapshot_sweep/1" (results/schema/snapshot_sweep.schema.json).
Json sweep_json(const Sweep& sweep);

}  // namespace zerotax::snapshot
