#pragma once

#include <string>

#include "base/json.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// The functions of a trace, those with the most time of their own first: the object of "zerotax.functions/1"
/// (results/schema/functions.schema.json).
Json functions_json(CtfTrace& trace, const std::string& folder);

/// The table for the terminal, from that object.
std::string functions_text(const Json& json);

}  // namespace zerotax::trace
