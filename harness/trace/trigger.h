#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"

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

/// Whether such an event ended the trace of a program, in a sentence; `trace` is the object of "zerotax.trace/1".
std::string event_trigger_text(const Json& trace, const std::string& event);

}  // namespace zerotax::trace
