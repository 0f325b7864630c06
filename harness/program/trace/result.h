#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "trace/ctf_trace.h"
#include "trace/intervals.h"

namespace zerotax::trace {

struct Source {
  RESULT("source", "A trace that was read.");
  FIELD(std::string, folder, "The trace, as given on the command line.");
  FIELD(std::uint64_t, discarded, "Number of discarded records; if it is not 0, the counts are too low.");
  FIELD(std::vector<std::string>, problems,
        "Parts of the files that could not be read, one line each; everything else is included.", form(R"(\S)"));
  [[nodiscard]] bool is_complete() const { return discarded == 0 && problems.empty(); }
};

/// Number of events, and the times of the first and the last event in ns of CLOCK_MONOTONIC.
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
  FIELD(bool, in_handlers, "Whether this stream is for signal handlers that interrupted the thread while it recorded.");
  MEMBER(events, "Number of events read from this stream.");
  MEMBER(first_ns, "CLOCK_MONOTONIC at the first event, in ns.", kAnySign);
  MEMBER(last_ns, "CLOCK_MONOTONIC at the last event, in ns.", kAnySign);
  FIELD(std::uint64_t, discarded, "Number of discarded records.");
};

struct Process {
  RESULT("process");
  FIELD(pid_t, pid, "PID of the process.", least(1));
  FIELD(std::string, name, "Short name of the process when it began.", kMayBeEmpty);
  FIELD(std::string, folder, "Folder of the process's trace.");
  FIELD(Measured<std::string>, mode, "Fate of records for which there was no room.", one_of("lost|overwrite"));
  FIELD(Measured<std::string>, clock, "The clock of the timestamps.", one_of("tsc|monotonic"));
  FIELD(std::uint64_t, ticks_per_second, "Ticks of the clock per second, as calibrated during the recording.");
  FIELD(std::int64_t, realtime_minus_monotonic_ns,
        "CLOCK_REALTIME minus CLOCK_MONOTONIC when the process began, in ns.", kAnySign);
  FIELD(std::vector<Stream>, streams, "Threads of the process.");
};

struct EventCount : Span {
  RESULT("event count");
  FIELD(std::string, name, "Name of the type of event.");
  MEMBER(events, "Number of events of this type that were read.");
  MEMBER(first_ns, "CLOCK_MONOTONIC at the first event, in ns.", kAnySign);
  MEMBER(last_ns, "CLOCK_MONOTONIC at the last event, in ns.", kAnySign);
};

struct Summary : Source, Span {
  RESULT("zerotax trace", "Events that programs recorded, as zerotax trace summary and run --json write them.");
  static constexpr const char* kDocument = "zerotax.trace/1";
  MEMBER(folder, "The trace, as given on the command line.");
  MEMBER(events, "Number of events read from the trace.");
  MEMBER(first_ns, "CLOCK_MONOTONIC at the first event, in ns.", kAnySign);
  MEMBER(last_ns, "CLOCK_MONOTONIC at the last event, in ns.", kAnySign);
  MEMBER(discarded, "Number of discarded records: lost, overwritten, or not written.");
  MEMBER(problems, "Parts of the files that could not be read, one line each; everything else is included.",
         form(R"(\S)"));
  FIELD(std::vector<Process>, processes, "Processes that recorded events.");
  FIELD(std::vector<EventCount>, types, "Types of the recorded events, with the number of events of each type.");
  FIELD(Measured<Intervals>, intervals, "Time from one type of event to another; n/a unless requested.");
};

/// Returns the source of a trace that was read to its end.
Source source_of(const CtfTrace& trace);

/// Reads a whole trace, and measures the requested intervals.
Summary summary_of(CtfTrace& trace, const std::optional<IntervalChoice>& choice);

/// Returns the answer, which fits one screen.
Answer summary_answer(const Summary& summary);
/// Returns a sentence with the number of events, or about the intervals between two types.
std::string headline(const Summary& summary);

/// Return text for the terminal: `list` has processes and streams, and the summary has types and intervals.
std::string list_text(const Summary& summary);
std::string summary_text(const Summary& summary);

/// Formats the seconds from the first to the last event; "n/a" without an event.
std::string seconds_text(const Span& span);

/// Returns sentences about damaged files and discarded records. Returns no sentence if no data is missing.
std::vector<std::string> warnings(const Source& source);
/// Formats warnings as lines for a terminal.
std::string problems_text(const std::vector<std::string>& problems);
std::string warnings_text(const Source& source);

}  // namespace zerotax::trace
