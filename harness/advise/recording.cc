#include "advise/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "core/results.h"
#include "record/arena.h"
#include "record/document.h"
#include "record/launch.h"

namespace zerotax::advise {
namespace {

ForegroundResult foreground_result(const MeteredRun& run) {
  ForegroundResult result;
  result.exit_status = run.exited ? run.code : 128 + run.code;
  result.signal = run.exited ? 0 : run.code;
  result.pid = run.pid;
  result.started_ns = run.started_ns;
  result.wall_ns = run.wall_ns;
  result.user_ns = run.user_ns;
  result.system_ns = run.system_ns;
  return result;
}

/// The process that called its allocator most: what it runs under is what the program runs under.
const Json* main_process(const Json& processes) {
  const Json* found = nullptr;
  double most = -1;
  for (const Json& process : processes) {
    double calls = 0;
    for (const char* key : {"malloc_calls", "calloc_calls", "realloc_calls"}) {
      const Json& figure = process.at("figures").at(key);
      if (figure.is_number()) calls += figure.get<double>();
    }
    if (calls > most) found = &process;
    most = std::max(most, calls);
  }
  return found;
}

/// Where the program itself writes most zeros: the first frame that has a line, of the site with most.
std::string worst_by_hand(const Json& sites) {
  const Json* worst = nullptr;
  std::uint64_t most = 0;
  for (const Json& site : sites) {
    const auto bytes = site.at("zeroed_bytes").get<std::uint64_t>();
    if (site.at("kind") != "by_hand" || bytes <= most) continue;
    most = bytes;
    worst = &site;
  }
  if (worst == nullptr) return "";
  std::string first;
  for (const Json& frame : worst->at("frames")) {
    const bool named = frame.at("function").is_string();
    const std::string function = named ? frame.at("function").get<std::string>() : "";
    if (frame.at("file").is_string() && frame.at("line").is_number()) {
      return fmt::format("{}:{} ({})", frame.at("file").get<std::string>(), frame.at("line").get<int>(), function);
    }
    if (first.empty() && named && function != "memset" && frame.at("module").is_string()) {
      first = fmt::format("{} in {}", function, file_name(frame.at("module").get<std::string>()));
    }
  }
  return first;
}

Json totals_of(const Json& totals) {
  const Json& kernel = totals.at("kernel");
  return {{"kernel_zeroed_bytes", kernel.at("zeroed_bytes")},
          {"zeroed_bytes", totals.at("zeroed_bytes")},
          {"by_hand_zeroed_bytes", totals.at("by_hand").at("zeroed_bytes")},
          {"refilled_bytes", kernel.at("refilled_bytes")}};
}

void read(const Json& record, Recording& recording) {
  const Json& processes = record.at("processes");
  const Json* main = main_process(processes);
  if (main == nullptr) {
    recording.why_not = "the recorder saw no process of it";
    return;
  }
  recording.allocator = main->at("allocator").get<std::string>();
  for (const Json& process : processes) {
    std::size_t threads = 0;
    for (const Json& thread : process.at("threads")) threads += thread.at("threads").get<std::size_t>();
    recording.threads = recording.threads || threads > 1;
  }
  recording.tax = record.at("tax");
  recording.totals = totals_of(record.at("totals"));
  recording.by_hand = worst_by_hand(record.at("sites"));
}

}  // namespace

std::optional<double> Recording::share(const std::string& cause) const {
  if (tax.is_null()) return std::nullopt;
  for (const Json& row : tax.at("rows")) {
    if (row.at("cause") != cause) continue;
    const Json& share = row.at("share_of_cpu");
    return share.is_number() ? std::optional(share.get<double>()) : std::nullopt;
  }
  return 0;
}

std::optional<double> Recording::zeroing() const {
  if (tax.is_null() || !tax.at("share_of_cpu").is_number()) return std::nullopt;
  for (const char* cause : {"fresh", "refilled", "returning"}) {
    if (!share(cause)) return std::nullopt;
  }
  return tax.at("share_of_cpu").get<double>();
}

std::optional<Recording> record_target(TargetRunner& runner, const TargetRunner::Variables& variables) {
  record::RecordTarget target = record::resolve_record_target(runner.target().words, "", {});
  record::RecordArena arena;
  const std::string started = utc_now();
  TargetRunner::Variables all = variables;
  for (const auto& [key, value] : record::recorded_command(target, arena).environment) {
    // The recorder comes first, so that its calls go on to the allocator.
    const auto preloaded = variables.find(key);
    all[key] = key == "LD_PRELOAD" && preloaded != variables.end() ? target.library + ":" + preloaded->second : value;
  }
  const MeteredRun run = runner.run_once(all);
  if (run.end == MeteredRun::End::kStopped) return std::nullopt;
  Recording recording;
  if (run.end == MeteredRun::End::kTimeout) {
    recording.why_not = "it did not end in time under the recorder";
  } else if (run.end == MeteredRun::End::kNotStarted) {
    recording.why_not = "it could not be started under the recorder: " + run.why_not_started;
  } else if (!runner.succeeded(run)) {
    recording.why_not = "it did not end well under the recorder: " + end_text(run.exited, run.code);
  } else if (!runner.same_output()) {
    recording.why_not = "it printed something else under the recorder";
  } else {
    read(record_json(target, foreground_result(run), arena, started), recording);
  }
  return recording;
}

}  // namespace zerotax::advise
