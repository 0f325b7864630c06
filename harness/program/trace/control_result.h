#pragma once

#include <sys/types.h>

#include <string>

#include "base/fields.h"
#include "trace/control_client.h"

namespace zerotax::trace {

/// The recording of a process. The fields are the keys of results/schema/trace_control.schema.json, which describes
/// them.
struct Control {
  std::string action;
  pid_t pid = 0;
  Measured<std::string> name;
  recorder::ControlRecording state = recorder::ControlRecording::kOff;
  Measured<std::string> folder;
  Measured<std::uint64_t> buffer_bytes;
  Measured<std::string> mode;
  Measured<std::string> drain;
  Measured<std::string> clock;
  OrNull<std::string> events;
  OrNull<std::string> until;
  Measured<std::uint64_t> records;
  Measured<std::uint64_t> lost;
};

/// Reads the trace, to count its records.
Control control_result(pid_t pid, const std::string& action, const ControlAnswer& answer);

const char* state_name(recorder::ControlRecording state);

/// The same for the terminal.
std::string control_text(const Control& control);

}  // namespace zerotax::trace
