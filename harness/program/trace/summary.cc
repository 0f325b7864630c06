#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/lines.h"
#include "base/printable.h"
#include "base/units.h"
#include "trace/fields.h"
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

std::string distribution_row(const Distribution& time, const std::string& who) {
  return fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", format_count(time.count),
                     time_text(time.total_ns), time_text(time.min_ns), time_text(time.median_ns),
                     time_text(time.p95_ns), time_text(time.p99_ns), time_text(time.max_ns), who);
}

/// Formats mean and spread, such as "mean 1.2 ms, standard deviation 200 µs (variance 4e+10 ns²)".
std::string moments_text(const Distribution& all) {
  if (!all.mean_ns) return "";
  std::string text = "mean " + time_text(all.mean_ns);
  if (all.variance_ns2) {
    const double variance = *all.variance_ns2;
    text += fmt::format(", standard deviation {} (variance {:.3g} ns²)", format_ns(std::sqrt(variance)), variance);
  }
  return text + "\n";
}

std::string intervals_text(const Intervals& intervals) {
  const auto& [from_key, to_key] = intervals.key;
  std::string text = fmt::format("\nfrom {} to {}", intervals.from, intervals.to);
  if (from_key != "thread" || to_key != "thread") {
    text += from_key == to_key ? fmt::format(" with the same {}", from_key)
                               : fmt::format(" where {} of the first event equals {} of the second", from_key, to_key);
  }
  text += fmt::format("\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  thread\n", "count", "total", "min", "median", "p95",
                      "p99", "max");
  text += distribution_row(intervals.all, "all");
  // If only one thread has intervals, its row would repeat the total.
  for (const IntervalThread& row : intervals.threads) {
    if (row.time.count == 0 || intervals.threads.size() == 1) continue;
    text += distribution_row(row.time, fmt::format("{}:{}", row.pid, row.tid));
  }
  text += moments_text(intervals.all);
  const std::string histogram = histogram_text(intervals.histogram, 80);
  return histogram.empty() ? text : text + "\n" + histogram;
}

}  // namespace

std::string seconds_text(const Span& span) {
  if (span.events == 0) return "n/a";
  return fmt::format("{:.6f}", static_cast<double>(*span.last_ns - *span.first_ns) * 1e-9);
}

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

std::string problems_text(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += wrap(problem, "! ", "  ");
  return text;
}

std::string warnings_text(const Source& source) { return problems_text(warnings(source)); }

std::string list_text(const Summary& summary) {
  std::string text;
  for (const Process& process : summary.processes) {
    text += fmt::format("process {} {} ({})\n", process.pid, printable(process.name), printable(process.folder));
    text += fmt::format("{:>10} {:>12} {:>10} {:>12}\n", "thread", "events", "discarded", "seconds");
    for (const Stream& row : process.streams) {
      text += fmt::format("{:>10} {:>12} {:>10} {:>12}{}\n", row.tid, row.events, row.discarded, seconds_text(row),
                          row.in_handlers ? "  in signal handlers that interrupted a record" : "");
    }
  }
  return text;
}

std::string summary_text(const Summary& summary) {
  std::string text = wrap(headline(summary)) + "\n";
  text += fmt::format("{} in {} s, {}, {} discarded\n", format_counted(summary.events, "event"), seconds_text(summary),
                      format_counted(summary.processes.size(), "process", "processes"), summary.discarded);
  text += fmt::format("\n{:>12} {:>12}  event\n", "count", "seconds");
  for (const EventCount& row : summary.types) {
    text += fmt::format("{:>12} {:>12}  {}\n", row.events, seconds_text(row), row.name);
  }
  if (summary.intervals) text += intervals_text(*summary.intervals);
  return text + warnings_text(summary);
}

}  // namespace zerotax::trace
