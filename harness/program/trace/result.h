#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "trace/ctf_trace.h"
#include "trace/intervals.h"

namespace zerotax::trace {

// The fields below are the keys of results/schema/trace.schema.json, which describes them.

/// A trace that was read, and how much of it is missing.
struct Source {
  std::string folder;
  std::uint64_t discarded = 0;
  std::vector<std::string> problems;
  [[nodiscard]] bool is_complete() const { return discarded == 0 && problems.empty(); }
};

/// Events, and when the first and the last one came, in ns of CLOCK_MONOTONIC.
struct Span {
  std::uint64_t events = 0;
  Measured<std::int64_t> first_ns = NotAvailable{"no event"};
  Measured<std::int64_t> last_ns = NotAvailable{"no event"};
  void add(std::int64_t ns);
};

struct Stream : Span {
  std::uint64_t stream = 0;
  pid_t tid = 0;
  bool in_handlers = false;
  std::uint64_t discarded = 0;
};

struct Process {
  pid_t pid = 0;
  std::string name;
  std::string folder;
  Measured<std::string> mode;
  Measured<std::string> clock;
  std::uint64_t ticks_per_second = 0;
  std::int64_t realtime_minus_monotonic_ns = 0;
  std::vector<Stream> streams;
};

struct EventCount : Span {
  std::string name;
};

struct Summary : Source, Span {
  std::vector<Process> processes;
  std::vector<EventCount> types;
  Measured<Intervals> intervals;
};

/// The source of a trace that was read to its end.
Source source_of(const CtfTrace& trace);

/// Reads a whole trace, with the times between events that were asked for.
Summary summary_of(CtfTrace& trace, const std::optional<IntervalChoice>& choice);

/// The tables for the terminal: `list` (processes and streams), and the summary (types, times between events).
std::string list_text(const Summary& summary);
std::string summary_text(const Summary& summary);

/// Warns of damaged files and of records that were not kept; empty if all is there.
std::string problems_text(const std::vector<std::string>& problems);
std::string warnings_text(const Source& source);

}  // namespace zerotax::trace
