#pragma once

#include "replay/result.h"

namespace zerotax::replay {

/// The object of "zerotax.replay/1" (results/schema/replay.schema.json).
Json replay_json(const Replay& replay);
Replay read_replay(const Json& json);

}  // namespace zerotax::replay
