#pragma once

#include <sys/types.h>

#include <string>

#include "base/json.h"
#include "trace/control_client.h"

namespace zerotax::trace {

/// The recording of a process: the object of "zerotax.trace_control/1" (results/schema/trace_control.schema.json).
/// Reads the trace, to count its records.
Json control_json(pid_t pid, const std::string& action, const ControlAnswer& answer);

/// The same for the terminal.
std::string control_text(const Json& json);

}  // namespace zerotax::trace
