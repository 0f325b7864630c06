#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "record/launch.h"

namespace zerotax::record {

/// Everything about one recorded run: the object "zerotax.record/1" (results/schema/record.schema.json).
Json record_json(const RecordTarget& target, const ForegroundResult& run, RecordArena& arena,
                 const std::string& started);

/// The summary for the terminal, from that object: 80 columns.
std::string record_text(const Json& record);

/// What to do next, as a command to paste: remedies for the program, if its zeroing costs enough. Else empty.
std::string next_step(const Json& record);

}  // namespace zerotax::record
