#pragma once

#include "replay/result.h"

namespace zerotax::replay {

/// The head of a document that this command begins now.
DocumentHead new_head(const char* schema);

/// The object of "zerotax.replay/1" (results/schema/replay.schema.json).
Json replay_json(const Replay& replay);
/// The object of "zerotax.workloads/1" (results/schema/workloads.schema.json).
Json workloads_json(const Workloads& workloads);
Workloads read_workloads(const Json& json);

}  // namespace zerotax::replay
