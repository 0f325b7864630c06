#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "observe/kernel_event_log.h"

namespace zerotax::trace {

/// The name of what `trace run --kernel` records by default.
inline constexpr CommonKernelEvent kFaultsEvent{
    "faults", "page faults with their class, forks, execs and exits; as root, their duration, and page allocations"};

/// "sched:sched_switch,faults" as names, each once. Throws UsageError for an empty one.
std::vector<std::string> kernel_event_names(const std::string& words);

/// The events of this kernel whose name contains `text` (all: ""): the object of "zerotax.trace_events/1"
/// (results/schema/trace_events.schema.json). With the exact name of one tracepoint, also its fields. Throws UsageError
/// if no event matches.
Json kernel_events_json(const std::string& text);
std::string kernel_events_text(const Json& json);

}  // namespace zerotax::trace
