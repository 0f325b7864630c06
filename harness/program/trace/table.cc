#include <fmt/format.h>

#include <cmath>

#include "base/printable.h"
#include "base/units.h"
#include "base/wrap.h"
#include "trace/fields.h"
#include "trace/result.h"

namespace zerotax::trace {
namespace {

std::string seconds(const Span& span) {
  if (span.events == 0) return "n/a";
  return fmt::format("{:.6f}", static_cast<double>(*span.last_ns - *span.first_ns) * 1e-9);
}

std::string distribution_row(const Distribution& time, const std::string& who) {
  return fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", format_count(time.count),
                     time_text(time.total_ns), time_text(time.min_ns), time_text(time.median_ns),
                     time_text(time.p95_ns), time_text(time.p99_ns), time_text(time.max_ns), who);
}

/// "mean 1.2 ms, standard deviation 200 µs (variance 4e+10 ns²)".
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
                               : fmt::format(" where {} of the first is {} of the second", from_key, to_key);
  }
  text += fmt::format("\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  thread\n", "count", "total", "min", "median", "p95",
                      "p99", "max");
  text += distribution_row(intervals.all, "all");
  // One row would only say the same again.
  for (const IntervalThread& row : intervals.threads) {
    if (row.time.count == 0 || intervals.threads.size() == 1) continue;
    text += distribution_row(row.time, fmt::format("{}:{}", row.pid, row.tid));
  }
  text += moments_text(intervals.all);
  const std::string histogram = histogram_text(intervals.histogram, 80);
  return histogram.empty() ? text : text + "\n" + histogram;
}

}  // namespace

std::string problems_text(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += wrap(problem, "! ", "  ");
  return text;
}

std::string warnings_text(const Source& source) {
  std::string text = problems_text(source.problems);
  if (source.discarded > 0)
    text += fmt::format("! {} discarded\n", format_counted(source.discarded, "record was", "records were"));
  return text;
}

std::string list_text(const Summary& summary) {
  std::string text;
  for (const Process& process : summary.processes) {
    text += fmt::format("process {} {} ({})\n", process.pid, printable(process.name), printable(process.folder));
    text += fmt::format("{:>10} {:>12} {:>10} {:>12}\n", "thread", "events", "discarded", "seconds");
    for (const Stream& row : process.streams) {
      text += fmt::format("{:>10} {:>12} {:>10} {:>12}{}\n", row.tid, row.events, row.discarded, seconds(row),
                          row.in_handlers ? "  in signal handlers that interrupted a record" : "");
    }
  }
  return text;
}

std::string summary_text(const Summary& summary) {
  std::string text =
      fmt::format("{} in {} s, {}, {} discarded\n", format_counted(summary.events, "event"), seconds(summary),
                  format_counted(summary.processes.size(), "process", "processes"), summary.discarded);
  text += fmt::format("\n{:>12} {:>12}  event\n", "count", "seconds");
  for (const EventCount& row : summary.types) {
    text += fmt::format("{:>12} {:>12}  {}\n", row.events, seconds(row), row.name);
  }
  if (summary.intervals) text += intervals_text(*summary.intervals);
  return text;
}

}  // namespace zerotax::trace
