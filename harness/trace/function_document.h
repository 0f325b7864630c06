#pragma once

#include <string>

#include "base/json.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// The functions of a trace, the most of own time first: the object of "zerotax.functions/1"
/// (results/schema/functions.schema.json).
Json functions_json(CtfTrace& trace, const std::string& folder);

/// For people, from that object.
std::string functions_text(const Json& json);

}  // namespace zerotax::trace
