#pragma once

#include <sys/types.h>

#include <string>

#include "base/fields.h"
#include "trace/control_client.h"

namespace zerotax::recorder {
ENUM_WORDS(ControlRecording, "off", "recording", "triggered")
}

namespace zerotax::trace {

struct Control {
  RESULT("zerotax trace start, stop, status",
         "What zerotax trace start, stop and status --json write: what a process is recording.");
  static constexpr const char* kDocument = "zerotax.trace_control/1";
  FIELD(std::string, action, "What was asked.", one_of("start|stop|status"));
  FIELD(pid_t, pid, "PID of the process.", least(1));
  FIELD(Measured<std::string>, name, "Short name of the process.");
  FIELD(recorder::ControlRecording, state,
        "After that: recording; triggered: the event of until has ended the trace, and its buffers are not written "
        "yet; off.");
  FIELD(Measured<std::string>, folder, "Folder of the process's trace, or of its last one.");
  FIELD(Measured<std::uint64_t>, buffer_bytes, "Buffer of each thread, in bytes.", least(65536));
  FIELD(Measured<std::string>, mode, "What a full buffer loses: the new record, or the oldest packet.",
        one_of("lost|overwrite"));
  FIELD(Measured<std::string>, drain,
        "Who writes the files: a thread of the recorder, each thread itself, or nobody before the end.",
        one_of("thread|self|off"));
  FIELD(Measured<std::string>, clock, "Clock of the records.", one_of("tsc|monotonic"));
  FIELD(OrNull<std::string>, events, "Types of event that are recorded; after !, types that are not; null: all.");
  FIELD(OrNull<std::string>, until, "Type of event that ends the trace; null: none does.");
  FIELD(Measured<std::uint64_t>, records, "Records in the trace's files and buffers when the answer came.");
  FIELD(Measured<std::uint64_t>, lost, "Records that were not kept: lost, overwritten or not written.");
};

/// Reads the trace, to count its records.
Control control_result(pid_t pid, const std::string& action, const ControlAnswer& answer);

/// The same for the terminal.
std::string control_text(const Control& control);

}  // namespace zerotax::trace
