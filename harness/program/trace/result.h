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

struct Source {
  RESULT("source", "A trace.");
  FIELD(std::string, folder, "The trace, as given on the command line.");
  FIELD(std::uint64_t, discarded, "Records that were not kept; if there are any, the counts are too low.");
  FIELD(std::vector<std::string>, problems,
        "Parts of the files that could not be read, one line each; everything else is included.", form(R"(\S)"));
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
  RESULT("stream");
  FIELD(std::uint64_t, stream, "Number of the stream file.");
  FIELD(pid_t, tid, "ID of the thread.");
  FIELD(bool, in_handlers, "Whether this is the stream of signal handlers that interrupted a record of the thread.");
  MEMBER(events, "Number of events read from the thread.");
  MEMBER(first_ns, "CLOCK_MONOTONIC at the first event, in ns.", kAnySign);
  MEMBER(last_ns, "CLOCK_MONOTONIC at the last event, in ns.", kAnySign);
  FIELD(std::uint64_t, discarded, "Number of its records that were not kept.");
};

struct Process {
  RESULT("process");
  FIELD(pid_t, pid, "PID of the process.", least(1));
  FIELD(std::string, name, "Short name of the process when it began.", kMayBeEmpty);
  FIELD(std::string, folder, "Folder of its trace.");
  FIELD(Measured<std::string>, mode, "What happened to records for which there was no room.", one_of("lost|overwrite"));
  FIELD(Measured<std::string>, clock, "The clock that timestamps come from.", one_of("tsc|monotonic"));
  FIELD(std::uint64_t, ticks_per_second, "Rate of that clock, as calibrated.");
  FIELD(std::int64_t, realtime_minus_monotonic_ns, "CLOCK_REALTIME minus CLOCK_MONOTONIC when it began, in ns.",
        kAnySign);
  FIELD(std::vector<Stream>, streams, "Its threads.");
};

struct EventCount : Span {
  RESULT("event count");
  FIELD(std::string, name, "Name of the type, as defined.");
  MEMBER(events, "Number of events read of this type.");
  MEMBER(first_ns, "CLOCK_MONOTONIC at the first event, in ns.", kAnySign);
  MEMBER(last_ns, "CLOCK_MONOTONIC at the last event, in ns.", kAnySign);
};

struct Summary : Source, Span {
  RESULT("zerotax trace", "What zerotax trace summary and run --json write: events that programs recorded.");
  static constexpr const char* kDocument = "zerotax.trace/1";
  MEMBER(folder, "The trace, as given on the command line.");
  MEMBER(events, "Number of events read from the trace.");
  MEMBER(first_ns, "CLOCK_MONOTONIC at the first event, in ns.", kAnySign);
  MEMBER(last_ns, "CLOCK_MONOTONIC at the last event, in ns.", kAnySign);
  MEMBER(discarded, "Number of records that were not kept: lost, overwritten, or not written.");
  MEMBER(problems, "Parts of the files that could not be read, one line each; everything else is included.",
         form(R"(\S)"));
  FIELD(std::vector<Process>, processes, "Processes that recorded.");
  FIELD(std::vector<EventCount>, types, "Types of event.");
  FIELD(Measured<Intervals>, intervals, "Time from one type of event to another; n/a unless requested.");
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
