#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

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

}  // namespace zerotax::trace
