#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "base/wrap.h"
#include "trace/distribution.h"
#include "trace/document.h"
#include "trace/fields.h"

namespace zerotax::trace {
namespace {

std::string seconds(const Json& from, const Json& to) {
  if (from.is_object() || to.is_object()) return "n/a";
  return fmt::format("{:.6f}", static_cast<double>(to.get<std::int64_t>() - from.get<std::int64_t>()) * 1e-9);
}

std::string distribution_row(const Json& time, const std::string& who) {
  return fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", format_count(time.at("count")),
                     time_text(time.at("total_ns")), time_text(time.at("min_ns")), time_text(time.at("median_ns")),
                     time_text(time.at("p95_ns")), time_text(time.at("p99_ns")), time_text(time.at("max_ns")), who);
}

/// "mean 1.2 ms, variance 0.04 ms², standard deviation 200 µs".
std::string moments_text(const Json& all) {
  if (is_not_available(all.at("mean_ns"))) return "";
  std::string text = "mean " + time_text(all.at("mean_ns"));
  if (!is_not_available(all.at("variance_ns2"))) {
    const double variance = all.at("variance_ns2").get<double>();
    text += fmt::format(", standard deviation {} (variance {:.3g} ns²)", format_ns(std::sqrt(variance)), variance);
  }
  return text + "\n";
}

std::string intervals_text(const Json& intervals) {
  const std::string from_key = intervals.at("key").at("from");
  const std::string to_key = intervals.at("key").at("to");
  std::string text =
      fmt::format("\nfrom {} to {}", intervals.at("from").get<std::string>(), intervals.at("to").get<std::string>());
  if (from_key != "thread" || to_key != "thread") {
    text += from_key == to_key ? fmt::format(" with the same {}", from_key)
                               : fmt::format(" where {} of the first is {} of the second", from_key, to_key);
  }
  text += fmt::format("\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  thread\n", "count", "total", "min", "median", "p95",
                      "p99", "max");
  text += distribution_row(intervals.at("all"), "all");
  // One row would only say the same again.
  const Json& threads = intervals.at("threads");
  for (const Json& row : threads) {
    if (row.at("time").at("count") == 0 || threads.size() == 1) continue;
    text += distribution_row(row.at("time"), fmt::format("{}:{}", row.at("pid").get<int>(), row.at("tid").get<int>()));
  }
  text += moments_text(intervals.at("all"));
  const std::string histogram = histogram_text(intervals.at("histogram"), 80);
  return histogram.empty() ? text : text + "\n" + histogram;
}

}  // namespace

std::string trace_warnings(const Json& json) {
  std::string text;
  for (const Json& problem : json.at("problems")) text += wrap(problem.get<std::string>(), "! ", "  ");
  const auto discarded = json.at("discarded").get<std::uint64_t>();
  if (discarded > 0)
    text += wrap(fmt::format("{} discarded", format_counted(discarded, "record was", "records were")), "! ", "  ");
  return text;
}

std::string trace_list_text(const Json& json) {
  std::string text;
  for (const Json& process : json.at("processes")) {
    text += fmt::format("process {} {} ({})\n", process.at("pid").get<int>(), process.at("name").get<std::string>(),
                        process.at("folder").get<std::string>());
    text += fmt::format("{:>10} {:>12} {:>10} {:>12}\n", "thread", "events", "discarded", "seconds");
    for (const Json& row : process.at("streams")) {
      text += fmt::format("{:>10} {:>12} {:>10} {:>12}{}\n", row.at("tid").get<int>(),
                          row.at("events").get<std::uint64_t>(), row.at("discarded").get<std::uint64_t>(),
                          seconds(row.at("first_ns"), row.at("last_ns")),
                          row.at("in_handlers").get<bool>() ? "  in signal handlers that interrupted a record" : "");
    }
  }
  return text;
}

std::string trace_summary_text(const Json& json) {
  std::string text = fmt::format("{} in {} s, {}, {} discarded\n", format_counted(json.at("events"), "event"),
                                 seconds(json.at("first_ns"), json.at("last_ns")),
                                 format_counted(json.at("processes").size(), "process", "processes"),
                                 json.at("discarded").get<std::uint64_t>());
  text += fmt::format("\n{:>12} {:>12}  event\n", "count", "seconds");
  for (const Json& row : json.at("types")) {
    text += fmt::format("{:>12} {:>12}  {}\n", row.at("events").get<std::uint64_t>(),
                        seconds(row.at("first_ns"), row.at("last_ns")), row.at("name").get<std::string>());
  }
  if (!is_not_available(json.at("intervals"))) text += intervals_text(json.at("intervals"));
  return text;
}

}  // namespace zerotax::trace
