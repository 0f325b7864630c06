#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/folders.h"
#include "observe/fault_tracer.h"
#include "trace/result.h"

namespace zerotax::trace {

/// So many page faults within so much time.
struct FaultRate {
  std::uint64_t faults = 0;
  std::int64_t within_ns = 0;
};

/// What ends a trace that keeps what preceded it (--until): a type of event that the program records, or a rate of
/// faults.
struct Trigger {
  std::string event;  ///< name, with * and ?; empty: a rate
  std::optional<FaultRate> rate;
};

/// "deadline_missed", or "100 faults in 10ms". Throws UsageError if it is neither.
Trigger parse_trigger(const std::string& until);

/// Whether such an event ended the trace of a program, which has these types of event, in a sentence.
std::string event_trigger_text(const std::vector<EventCount>& types, const std::string& event);

/// Stops the trace of the program that the calling thread starts next, and of all that is started from it by exec, as
/// soon as they take page faults at this rate, all together. They inherit our environment, which makes their buffers
/// keep the latest records, and lets them be stopped.
class FaultWatch {
 public:
  /// Throws MachineError if faults cannot be watched.
  explicit FaultWatch(FaultRate rate);

  /// Ends watching, and says what happened. Once, after the program's end.
  std::string finish();

 private:
  void count(const Fault& fault);
  void stop_all();

  FaultRate rate_;
  TemporaryFolder control_{"control"};
  std::deque<std::uint64_t> recent_;  ///< times of the latest faults
  bool reached_ = false;
  unsigned stopped_ = 0;  ///< processes
  std::vector<std::string> failures_;
  std::unique_ptr<FaultTracer> tracer_;
};

/// A run of a program that records until something happens (--until); without it, does nothing. Puts into our
/// environment what the program inherits.
class TriggeredRun {
 public:
  /// To be made directly before the program is started. Throws UsageError for what cannot end a trace, MachineError if
  /// faults cannot be watched.
  TriggeredRun(const std::string& until, bool kernel);

  /// After the program's end: what happened to a rate of faults, in a sentence; empty: no rate was given.
  std::string finish();
  /// What happened to an event, in a sentence; empty: no event was given.
  [[nodiscard]] std::string event_text(const Summary& summary) const;

 private:
  Trigger trigger_;
  std::unique_ptr<FaultWatch> watch_;
};

}  // namespace zerotax::trace
