#include "trace/triggered_run.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/printable.h"
#include "base/units.h"
#include "trace/control_client.h"
#include "trace/kernel_events.h"

namespace zerotax::trace {
namespace {

constexpr double kLongestNs = 1e12;

/// Converts "10ms", "0.5s" or "200us" to nanoseconds; returns std::nullopt for anything else.
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

/// Pause between reads of the kernel's buffers. The pause is shorter than usual, because new records in the program's
/// buffers soon overwrite old records.
constexpr std::chrono::milliseconds kPause{1};

}  // namespace

TriggeredRun::TriggeredRun(const std::string& until, bool kernel) {
  if (until.empty()) return;
  trigger_ = parse_trigger(until);
  if (kernel) {
    throw UsageError("--until ends the trace of the program, but --kernel records outside the program",
                     "leave out one of them");
  }
  if (trigger_.rate) {
    watch_ = std::make_unique<FaultWatch>(*trigger_.rate);
  } else {
    ::setenv("ZEROTAX_TRACE_UNTIL", trigger_.event.c_str(), 1);
  }
}

std::string TriggeredRun::finish() { return watch_ ? watch_->finish() : ""; }

std::string TriggeredRun::event_text(const Summary& summary) const {
  return trigger_.event.empty() ? "" : event_trigger_text(summary.types, trigger_.event);
}

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
    return fmt::format("stopped at the first {}: the trace has the records before it\n", type.name);
  }
  return fmt::format("no {} was recorded: the trace has the latest records before the end\n", event);
}

FaultWatch::FaultWatch(FaultRate rate) : rate_(rate) {
  ::setenv(recorder::kControlVariable, control_.path().c_str(), 1);
  ::setenv("ZEROTAX_TRACE_MODE", "overwrite", 0);
  ::setenv("ZEROTAX_TRACE_DRAIN", "off", 0);
  FaultTracerOptions options;
  options.pause = kPause;
  options.each = [this](const Fault& fault, FaultClass /*kind*/) { count(fault); };
  tracer_ = std::make_unique<FaultTracer>(options);
}

void FaultWatch::count(const Fault& fault) {
  if (reached_) return;
  recent_.push_back(fault.begin_ns);
  if (recent_.size() > rate_.faults) recent_.pop_front();
  if (recent_.size() < rate_.faults) return;
  if (recent_.back() - recent_.front() > static_cast<std::uint64_t>(rate_.within_ns)) return;
  stop_all();
  // A program takes hundreds of faults before its recorder starts, so a rate reached without any stopped process does
  // not count.
  reached_ = stopped_ > 0 || !failures_.empty();
  if (!reached_) recent_.clear();
}

void FaultWatch::stop_all() {
  std::error_code failure;
  const std::string prefix = recorder::kControlPrefix;
  for (const auto& entry : std::filesystem::directory_iterator(control_.path(), failure)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    try {
      ControlClient client(static_cast<pid_t>(std::atoi(name.c_str() + prefix.size())), control_.path());
      if (client.ask(recorder::ControlAction::kStop).result == recorder::ControlResult::kDone) ++stopped_;
    } catch (const Error& error) {
      failures_.emplace_back(error.what());  // the process may have ended by itself
    }
  }
}

std::string FaultWatch::finish() {
  const FaultData data = tracer_->finish();
  const std::string rate =
      fmt::format("{} in {}", format_counted(rate_.faults, "fault"), format_ns(static_cast<double>(rate_.within_ns)));
  std::string text = reached_ ? fmt::format("stopped {} at {}: the trace has the records before it\n",
                                            format_counted(stopped_, "process", "processes"), rate)
                              : fmt::format("never {}: the trace has the latest records before the end\n", rate);
  for (const std::string& failure : failures_) text += fmt::format("! {}\n", printable(failure));
  if (data.lost > 0) {
    text += fmt::format("! {} lost: the rate may have been reached earlier\n",
                        format_counted(data.lost, "kernel event was", "kernel events were"));
  }
  return text;
}

}  // namespace zerotax::trace
