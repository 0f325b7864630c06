#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace zerotax::trace
