#include "trace/triggered_run.h"

#include <cstdlib>

#include "base/error.h"

namespace zerotax::trace {

TriggeredRun::TriggeredRun(const std::string& until, bool kernel) {
  if (until.empty()) return;
  trigger_ = parse_trigger(until);
  if (kernel) {
    throw UsageError("--until ends the trace of the program, and --kernel records beside it", "leave out one of them");
  }
  if (trigger_.rate) {
    watch_ = std::make_unique<FaultWatch>(*trigger_.rate);
  } else {
    ::setenv("ZEROTAX_TRACE_UNTIL", trigger_.event.c_str(), 1);
  }
}

std::string TriggeredRun::finish() { return watch_ ? watch_->finish() : ""; }

std::string TriggeredRun::event_text(const Summary& summary) const {
  return trigger_.event.empty() ? "" : event_trigger_text(summary.types, trigger_.event);
}

}  // namespace zerotax::trace
