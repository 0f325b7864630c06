#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "format/control_file.h"
#include "os/unique_fd.h"

namespace zerotax::trace {

/// The answer of a recorded process.
struct ControlAnswer {
  recorder::ControlResult result = recorder::ControlResult::kDone;
  std::string message;  ///< the error message of kFailed
  recorder::ControlRecording recording = recorder::ControlRecording::kOff;
  std::string folder;  ///< folder of the current trace, or of the last one if no trace is running; empty if there has
                       ///< been no trace
  std::string events;
  std::string until;
  std::uint64_t buffer_bytes = 0;
  int mode = 0;   ///< zerotax_trace_mode
  int drain = 0;  ///< zerotax_trace_drain
  bool monotonic = false;
  std::uint64_t lost = 0;
};

/// Controls the recorder in a process through its control file (recorder/format/control_file.h).
class ControlClient {
 public:
  /// `folder` contains the control file. If `folder` is empty, ZEROTAX_TRACE_CONTROL names the folder, first in this
  /// command's environment, else in the process's. Throws UsageError if the process has ended or has no recorder that
  /// can be controlled. Throws MachineError if access is denied.
  ControlClient(pid_t pid, const std::string& folder);
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// Sends a request and waits for the answer. Throws UsageError if the process has ended. If the process ends before
  /// it answers, or does not answer, withdraws the request and throws MachineError.
  ControlAnswer ask(recorder::ControlAction action, const recorder::ControlOptions& wanted = {});

 private:
  void lock();
  void wait_for_turn();
  void wait_for_answer(std::uint32_t answers_before);
  [[noreturn]] void refuse_ended() const;
  [[nodiscard]] bool is_alive() const;
  [[nodiscard]] bool is_stopped() const;

  pid_t pid_;
  std::uint64_t started_ = 0;
  UniqueFd file_;
  recorder::ControlFile* control_ = nullptr;
};

/// Returns the start time of the process (ProcessFacts::start_ticks). Throws UsageError unless the process exists and
/// can have a recorder.
std::uint64_t check_controllable(pid_t pid);

/// Returns the path of a process's control file in `folder`. If `folder` is empty, ZEROTAX_TRACE_CONTROL names the
/// folder, first in this command's environment, else in the process's. Throws UsageError if the variable is set in
/// neither environment. Throws MachineError if this user cannot read the process's environment.
std::string control_path(pid_t pid, const std::string& folder);

/// Throws the error that explains why the control file cannot be opened; `failure` is errno.
[[noreturn]] void refuse_control_file(pid_t pid, const std::string& path, int failure);

/// The values equal those of recorder::ControlRecording.
enum class RecordingState { kOff, kOn, kTriggered };
ENUM_WORDS(RecordingState, "off", "recording", "triggered")

struct Control {
  RESULT("zerotax trace start, stop, status",
         "The recording state of a process, as zerotax trace start, stop and status --json write it.");
  static constexpr const char* kDocument = "zerotax.trace_control/1";
  FIELD(std::string, action, "The requested action.", one_of("start|stop|status"));
  FIELD(pid_t, pid, "PID of the process.", least(1));
  FIELD(Measured<std::string>, name, "Short name of the process.");
  FIELD(RecordingState, state,
        "State after the action: recording, off, or triggered. triggered: the event of `until` has ended the trace, "
        "but its buffers are not written yet.");
  FIELD(Measured<std::string>, folder,
        "Folder of the process's current trace, or of its last trace if it is not recording.");
  FIELD(Measured<std::uint64_t>, buffer_bytes, "Buffer size per thread, in bytes.", least(65536));
  FIELD(Measured<std::string>, mode, "Record that is lost when a buffer is full: the new record, or the oldest packet.",
        one_of("lost|overwrite"));
  FIELD(Measured<std::string>, drain,
        "Writer of the files: a thread of the recorder (thread), each recorded thread (self), or none until the "
        "trace ends (off).",
        one_of("thread|self|off"));
  FIELD(Measured<std::string>, clock, "Clock of the records' timestamps.", one_of("tsc|monotonic"));
  FIELD(OrNull<std::string>, events,
        "Types of event that are recorded; types after ! are not recorded. Null if all types are recorded.");
  FIELD(OrNull<std::string>, until, "Type of event that ends the trace; null if no event does.");
  FIELD(Measured<std::uint64_t>, records, "Records in the trace's files and buffers at the time of the answer.");
  FIELD(Measured<std::uint64_t>, lost, "Number of discarded records: lost, overwritten or not written.");
};

/// Returns the result of an action. Reads the trace to count its records.
Control control_result(pid_t pid, const std::string& action, const ControlAnswer& answer);

/// Returns the result as text for the terminal.
std::string control_text(const Control& control);

}  // namespace zerotax::trace
