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

/// A rate of page faults: this number within this time.
struct FaultRate {
  std::uint64_t faults = 0;
  std::int64_t within_ns = 0;
};

/// The trigger that ends a trace (--until): a type of event that the program records, or a rate of faults. The trace
/// keeps the records from before the trigger.
struct Trigger {
  std::string event;  ///< name of the event, with * and ?; empty for a rate
  std::optional<FaultRate> rate;
};

/// Parses "deadline_missed" or "100 faults in 10ms". Throws UsageError if `until` is neither.
Trigger parse_trigger(const std::string& until);

/// Returns a sentence that says whether `event` ended the trace of a program. `types` are the types of event in the
/// trace.
std::string event_trigger_text(const std::vector<EventCount>& types, const std::string& event);

/// Stops the traces of the next program that the calling thread starts, and of all its descendants, when all these
/// processes together reach the rate of page faults. Sets variables in this command's environment, which the processes
/// inherit: buffers keep the latest records, and traces can be stopped.
class FaultWatch {
 public:
  /// Throws MachineError if faults cannot be observed.
  explicit FaultWatch(FaultRate rate);

  /// Stops watching and returns a sentence about the outcome. Must be called once, after the program has ended.
  std::string finish();

 private:
  void count(const Fault& fault);
  void stop_all();

  FaultRate rate_;
  TemporaryFolder control_{"control"};
  std::deque<std::uint64_t> recent_;  ///< times of the latest faults
  bool reached_ = false;
  unsigned stopped_ = 0;  ///< number of stopped processes
  std::vector<std::string> failures_;
  std::unique_ptr<FaultTracer> tracer_;
};

/// Ends the traces of a program at a trigger (--until). Does nothing without a trigger. Sets variables in this
/// command's environment that the program inherits.
class TriggeredRun {
 public:
  /// Must be constructed directly before the program starts. Throws UsageError if `until` cannot end a trace,
  /// MachineError if faults cannot be observed.
  TriggeredRun(const std::string& until, bool kernel);

  /// Returns a sentence that says whether the rate of faults was reached; empty if no rate was given. Must be called
  /// after the program has ended.
  std::string finish();
  /// Returns a sentence that says whether the event occurred; empty if no event was given.
  [[nodiscard]] std::string event_text(const Summary& summary) const;

 private:
  Trigger trigger_;
  std::unique_ptr<FaultWatch> watch_;
};

}  // namespace zerotax::trace
