#include "trace/trigger.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/units.h"
#include "trace/event_names.h"

namespace zerotax::trace {
namespace {

constexpr double kLongestNs = 1e12;

/// "10ms", "0.5s", "200us" in nanoseconds; nothing if it is no such time.
std::optional<std::int64_t> parse_time(const std::string& text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc()) return std::nullopt;
  const std::string unit(end, text.data() + text.size());
  const double factor = unit == "us" || unit == "µs" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
  const double ns = number * factor;
  if (!(ns >= 1) || ns > kLongestNs) return std::nullopt;
  return std::llround(ns);
}

std::optional<FaultRate> parse_rate(const std::string& text) {
  std::istringstream words(text);
  std::string count;
  std::string faults;
  std::string in;
  std::string time;
  std::string unit;
  std::string rest;
  words >> count >> faults >> in >> time >> unit >> rest;
  FaultRate rate;
  const auto [end, failure] = std::from_chars(count.data(), count.data() + count.size(), rate.faults);
  const auto within = parse_time(time + unit);
  const bool is_count = failure == std::errc() && end == count.data() + count.size() && rate.faults > 0;
  if (!is_count || (faults != "faults" && faults != "fault") || in != "in" || !within || !rest.empty()) {
    return std::nullopt;
  }
  rate.within_ns = *within;
  return rate;
}

}  // namespace

Trigger parse_trigger(const std::string& until) {
  if (until.find(' ') == std::string::npos) {
    check_trigger(until);
    return {until, std::nullopt};
  }
  const auto rate = parse_rate(until);
  if (!rate) {
    throw UsageError(
        fmt::format("invalid --until '{}'", until),
        "give a type of event that the program records, or a rate such as '100 faults in 10ms' (us, ms, s)");
  }
  return {"", rate};
}

std::string event_trigger_text(const std::vector<EventCount>& types, const std::string& event) {
  for (const EventCount& type : types) {
    if (::fnmatch(event.c_str(), type.name.c_str(), 0) != 0 || type.events == 0) continue;
    return fmt::format("stopped at the first {}: the trace has what preceded it\n", type.name);
  }
  return fmt::format("no {} was recorded: the trace has the latest records before the end\n", event);
}

}  // namespace zerotax::trace
