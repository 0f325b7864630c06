#pragma once

#include <string>

#include "base/json.h"
#include "trace/ctf_trace.h"
#include "trace/intervals.h"

namespace zerotax::trace {

/// Reads a whole trace: the object of "zerotax.trace/1" (results/schema/trace.schema.json). `intervals` may be nullptr.
Json trace_json(CtfTrace& trace, const std::string& folder, TraceIntervals* intervals);

/// The table for the terminal, from that object: `list` (processes and streams) or else the summary (types, times
/// between events).
std::string trace_list_text(const Json& json);
std::string trace_summary_text(const Json& json);

/// The warnings of that object: what is damaged, what was lost; empty if nothing.
std::string trace_warnings(const Json& json);

}  // namespace zerotax::trace
