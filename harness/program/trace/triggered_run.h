#pragma once

#include <memory>
#include <string>

#include "trace/fault_watch.h"
#include "trace/trigger.h"

namespace zerotax::trace {

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
