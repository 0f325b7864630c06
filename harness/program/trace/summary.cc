#include <algorithm>
#include <map>

#include "base/printable.h"
#include "trace/result.h"

namespace zerotax::trace {
namespace {

Process process_of(const CtfProcess& recorded) {
  const CtfMetadata& metadata = recorded.metadata;
  const std::string unsaid = "the trace does not say";
  Process process;
  process.pid = metadata.pid;
  process.name = printable(metadata.process_name);
  process.folder = recorded.folder;
  process.mode = {metadata.mode, unsaid};
  process.clock = {metadata.clock_source, unsaid};
  process.ticks_per_second = metadata.frequency;
  process.realtime_minus_monotonic_ns =
      static_cast<std::int64_t>(metadata.begin_realtime_ns) - static_cast<std::int64_t>(metadata.begin_monotonic_ns);
  return process;
}

}  // namespace

void Span::add(std::int64_t ns) {
  first_ns = events == 0 ? ns : std::min(*first_ns, ns);
  last_ns = events == 0 ? ns : std::max(*last_ns, ns);
  ++events;
}

Source source_of(const CtfTrace& trace) { return {trace.folder(), trace.discarded(), trace.problems()}; }

Summary summary_of(CtfTrace& trace, const std::optional<IntervalChoice>& choice) {
  Summary summary;
  std::map<const CtfStream*, Span> streams;
  std::map<std::string, Span> types;
  TraceIntervals intervals(choice.value_or(IntervalChoice{}));
  trace.for_each([&](const CtfEvent& event) {
    summary.add(event.monotonic_ns);
    streams[event.stream].add(event.monotonic_ns);
    types[event.type->name].add(event.monotonic_ns);
    if (choice) intervals.add(event);
  });
  static_cast<Source&>(summary) = source_of(trace);
  for (const CtfProcess& process : trace.processes()) summary.processes.push_back(process_of(process));
  for (const CtfStream& stream : trace.streams()) {
    summary.processes[stream.process].streams.push_back(
        {streams[&stream], stream.number, stream.tid, stream.nested, stream.discarded});
  }
  for (const auto& [name, span] : types) summary.types.push_back({span, name});
  summary.intervals =
      choice ? Measured<Intervals>(intervals.result()) : NotAvailable{"not requested (--begin and --end)"};
  return summary;
}

}  // namespace zerotax::trace
