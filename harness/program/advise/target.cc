#include "advise/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "advise/copy_watch.h"
#include "advise/remedy.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "judge/evidence.h"
#include "os/clock.h"
#include "os/memory.h"
#include "replay/run.h"

namespace zerotax::advise {
namespace {

/// Timeout of runs with a remedy, as a multiple of the unchanged program's time; at least kLeastPatience_s.
constexpr double kPatience = 5;
constexpr double kLeastPatience_s = 5;

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1e3)));
}

}  // namespace

TargetRunner::TargetRunner(Target target) : target_(std::move(target)) {}

MeteredRun TargetRunner::run_once(const Variables& variables, std::uint64_t memory_limit, const Words& launcher) {
  const std::string output = folder_.file("output");
  const std::string errors = folder_.file("errors");
  std::error_code ignored;
  std::filesystem::remove(errors, ignored);
  MeteredCommand command;
  command.program = target_.program;
  command.words = target_.words;
  if (!launcher.empty()) {
    command.program = launcher.front();
    command.words.insert(command.words.begin(), launcher.begin(), launcher.end());
  }
  command.environment.assign(variables.begin(), variables.end());
  if (target_.replay && target_.idle) command.environment.emplace_back(replay::wait_variable(), "1");
  command.input = target_.input;
  command.output = target_.ignore_output || target_.is_server() ? "/dev/null" : output;
  command.errors = errors;
  command.client = target_.load;
  command.ready = target_.ready;
  command.terminate = target_.is_server();
  // The first of the unchanged runs that wait are warm-ups.
  const unsigned waits = variables.empty() ? 4 : 1;
  command.wait_until_idle = target_.is_server() && (target_.idle || runs_[variables]++ < waits);
  // An unchanged run ends the advice if it fails, so it may take long on a machine that is busy for a moment.
  const bool is_trial = longest_s_ != 0 && !(variables.empty() && launcher.empty());
  const double patience = is_trial ? std::max(kLeastPatience_s, kPatience * longest_s_) : target_.timeout_s;
  command.timeout = milliseconds(std::min(target_.timeout_s, patience));
  command.sum_memory = true;
  command.sum_pss = !target_.copies;
  command.memory_limit = memory_limit;
  const std::int64_t began_ns = monotonic_ns();
  MeteredRun run = run_metered(command);
  last_took_s_ = static_cast<double>(monotonic_ns() - began_ns) / 1e9;
  last_output_ = command.output == output && run.end == MeteredRun::End::kEnded ? hash_of_file(output) : 0;
  return run;
}

MeteredRun TargetRunner::run_watched(const Variables& variables, std::uint64_t memory_limit, const Words& launcher) {
  if (!target_.copies) return run_once(variables, memory_limit, launcher);
  CopyWatch watch;
  MeteredRun run = run_once(variables, memory_limit, launcher);
  last_copies_ = watch.finish(run.pid);
  return run;
}

std::string TargetRunner::why_failed(const MeteredRun& run) const {
  if (run.end == MeteredRun::End::kTimeout) return "did not end in time";
  if (run.end == MeteredRun::End::kNotStarted) return "could not be started: " + run.why_not_started;
  std::string why;
  // A server may end because of the signal that we send, of its own accord, or with an exit status that reports the
  // signal.
  const bool by_us = target_.is_server() && (run.exited ? run.code == 0 || run.code == 128 + 15 : run.code == 15);
  if (run.never_ready) {
    why = "ended before it was ready: " + end_text(run.exited, run.code);
  } else if (!by_us && (!run.exited || run.code != 0)) {
    why = "ended with " + end_text(run.exited, run.code);
    if (!run.exited) why = "was " + end_text(run.exited, run.code);
  } else if (target_.is_server() && run.client_status != 0) {
    why = fmt::format("--load ended with exit status {}", run.client_status);
  }
  if (why.empty()) return why;
  const std::string said = first_words();
  return said.empty() ? why : why + " (" + one_line(said) + ")";
}

std::string TargetRunner::first_words() const {
  const std::string said = first_line_of_file(folder_.file("errors"));
  return said.empty() ? first_line_of_file(folder_.file("output")) : said;
}

std::uint64_t TargetRunner::memory_limit() const {
  if (peak_bytes_ == 0) return 0;
  return std::min(trial_memory(static_cast<std::uint64_t>(peak_bytes_)), read_memory_state().usable());
}

Trial TargetRunner::run(const Variables& variables, const Words& launcher) {
  const std::uint64_t limit = memory_limit();
  const MeteredRun run = run_watched(variables, limit, launcher);
  last_tried_.clear();
  for (const auto& [key, value] : variables)
    last_tried_ += (last_tried_.empty() ? "" : " ") + key + "=" + shell_word(value);
  if (run.end != MeteredRun::End::kMemory) return trial_of(run);
  Trial trial;
  trial.took_s = last_took_s_;
  trial.end = Trial::End::kMoreMemory;
  trial.why = fmt::format("ended because it took more than {}: {}", format_size(limit),
                          limit == trial_memory(static_cast<std::uint64_t>(peak_bytes_))
                              ? "twice the memory of the unchanged program plus 256 MiB"
                              : "the free memory of the machine");
  return trial;
}

Trial TargetRunner::trial_of(const MeteredRun& run) const {
  Trial trial;
  trial.took_s = last_took_s_;
  if (run.end == MeteredRun::End::kStopped) {
    trial.end = Trial::End::kStopped;
    return trial;
  }
  trial.figures = figures_of(run);
  trial.figures.copies = last_copies_;
  if (target_.replay && trial.figures.idle_measure != IdleMeasure::kIdle) {
    trial.figures.idle_bytes = NotAvailable{target_.idle ? "the recording has no pause of 300 ms between its calls"
                                                         : "a replay does not wait as the program did"};
  }
  trial.why = why_failed(run);
  if (!trial.why.empty()) {
    trial.end = Trial::End::kFailed;
  } else if (reference_ && !same_output()) {
    trial.end = Trial::End::kChangedOutput;
  }
  return trial;
}

Trial TargetRunner::run_present() {
  Trial trial = trial_of(run_watched({}, 0, {}));
  const std::string name = shell_text({target_.words.front()});
  if (trial.end == Trial::End::kFailed) {
    std::string remedy =
        "only successful runs are compared; standard input is /dev/null (give --input FILE), and there is no "
        "terminal";
    if (reference_) {
      remedy =
          "the program succeeded before, and failed now without any remedy: advice needs a program that does the "
          "same each time";
      if (!last_tried_.empty()) remedy += fmt::format("; the run before this one had {}", last_tried_);
    }
    if (trial.why.starts_with("did not end")) {
      trial.why = fmt::format("did not end within {:g} s", target_.timeout_s);
      remedy = "give --timeout SECONDS; for a server, give --load COMMAND, after which the server is ended";
      if (target_.is_server()) remedy = "give --timeout SECONDS, and check --ready and --load";
    }
    throw UsageError(fmt::format("'{}' {}", name, trial.why), remedy);
  }
  if (trial.end == Trial::End::kChangedOutput) {
    throw UsageError(
        fmt::format("'{}' prints different text from run to run, which would hide changes by a remedy", name),
        "give --ignore-output if this is intended");
  }
  if (trial.end == Trial::End::kOk) {
    if (!reference_) reference_ = last_output_;
    longest_s_ = std::max(longest_s_, trial.figures.wall_s);
    run_s_ = std::max(run_s_, trial.took_s);
    peak_bytes_ = std::max(peak_bytes_, trial.figures.peak_bytes);
  }
  return trial;
}

Figures figures_of(const MeteredRun& run) {
  Figures figures{static_cast<double>(run.user_ns + run.system_ns) / 1e9, static_cast<double>(run.wall_ns) / 1e9,
                  static_cast<double>(run.faults), static_cast<double>(run.peak_bytes)};
  if (run.idle_memory) {
    figures.idle_bytes = static_cast<double>(run.idle_memory->bytes);
    figures.idle_measure = run.idle_memory->idle ? IdleMeasure::kIdle : IdleMeasure::kMean;
  } else {
    figures.idle_bytes = NotAvailable{run.idle_memory.why()};
  }
  return figures;
}

}  // namespace zerotax::advise
