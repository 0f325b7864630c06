#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "format/control_file.h"
#include "os/unique_fd.h"

namespace zerotax::trace {

/// What a process answered.
struct ControlAnswer {
  recorder::ControlResult result = recorder::ControlResult::kDone;
  std::string message;  ///< of kFailed
  recorder::ControlRecording recording = recorder::ControlRecording::kOff;
  std::string folder;  ///< of its trace, or of the last one; empty without one
  std::string events;
  std::string until;
  std::uint64_t buffer_bytes = 0;
  int mode = 0;   ///< zerotax_trace_mode
  int drain = 0;  ///< zerotax_trace_drain
  bool monotonic = false;
  std::uint64_t lost = 0;
};

/// Speaks to the recorder in a process by its control file (recorder/format/control_file.h).
class ControlClient {
 public:
  /// `folder`: where the file is; empty: as our environment or the process's says (ZEROTAX_TRACE_CONTROL). Throws
  /// UsageError if the process has ended or has no recorder that can be controlled, MachineError if we may not.
  ControlClient(pid_t pid, const std::string& folder);
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// Asks, and waits for the answer. Throws UsageError if the process has ended, MachineError if it ends before it
  /// answers or does not answer; the request is then taken back.
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

/// When the process started (ProcessFacts::start_ticks). Throws UsageError unless it exists and could have a recorder.
std::uint64_t check_controllable(pid_t pid);

/// The path of a process's control file: in `folder`, or if that is empty in the one that ZEROTAX_TRACE_CONTROL names,
/// in the process's environment or in ours. Throws UsageError if none does, MachineError if its environment may not be
/// read.
std::string control_path(pid_t pid, const std::string& folder);

/// Throws what it means that the control file cannot be opened, by errno.
[[noreturn]] void refuse_control_file(pid_t pid, const std::string& path, int failure);

/// As recorder::ControlRecording.
enum class RecordingState { kOff, kOn, kTriggered };
ENUM_WORDS(RecordingState, "off", "recording", "triggered")

struct Control {
  RESULT("zerotax trace start, stop, status",
         "What zerotax trace start, stop and status --json write: what a process is recording.");
  static constexpr const char* kDocument = "zerotax.trace_control/1";
  FIELD(std::string, action, "What was asked.", one_of("start|stop|status"));
  FIELD(pid_t, pid, "PID of the process.", least(1));
  FIELD(Measured<std::string>, name, "Short name of the process.");
  FIELD(RecordingState, state,
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
