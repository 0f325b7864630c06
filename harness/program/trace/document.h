#pragma once

#include <cstdio>

#include "trace/control_client.h"
#include "trace/ctf_trace.h"
#include "trace/function_result.h"
#include "trace/kernel_events.h"
#include "trace/result.h"

namespace zerotax::trace {

// Return objects of the schemas in results/schema/: "zerotax.trace/1", "zerotax.functions/1",
// "zerotax.functions_diff/1", "zerotax.trace_control/1", "zerotax.trace_events/1".
Json summary_json(const Summary& summary);
Json functions_json(const Functions& functions);
Json function_diff_json(const FunctionDiff& diff);
Json control_json(const Control& control);
Json event_list_json(const EventList& events);

/// Writes a trace in Chrome's JSON format, which ui.perfetto.dev opens: each event becomes an instant with its fields,
/// each function call a slice. Writes while it reads, because a trace is often larger than memory.
void write_perfetto(CtfTrace& trace, std::FILE* to);

}  // namespace zerotax::trace
