#include "bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/names.h"
#include "base/one_line.h"
#include "files/temporary_folder.h"
#include "os/utc.h"
#include "programs/run.h"
#include "record/run.h"
#include "run/interrupt.h"
#include "run/metered_run.h"
#include "run/program_launch.h"

namespace zerotax::bench {
namespace {

constexpr const char* kShortLoops = "--benchmark_min_time=0.1";

/// A pattern that matches these names alone.
std::string pattern_of(const std::vector<std::string>& names) {
  std::string pattern;
  for (const std::string& name : names) {
    pattern += pattern.empty() ? "^(" : "|";
    for (const char letter : name) {
      if (std::string_view("\\^$.|?*+()[]{}").find(letter) != std::string_view::npos) pattern += '\\';
      pattern += letter;
    }
  }
  return pattern + ")$";
}

bool has_option(const std::vector<std::string>& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return word.starts_with(option); });
}

MeteredCommand command_of(const record::RecordTarget& target, std::vector<std::string> words, double timeout_s,
                          const TemporaryFolder& folder) {
  MeteredCommand command;
  command.program = target.program;
  command.words = std::move(words);
  command.errors = folder.file("errors");
  command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(timeout_s * 1e3)));
  return command;
}

MeteredRun run_to_success(const MeteredCommand& command, double timeout_s) {
  MeteredRun run = run_metered(command);
  const std::string name = file_name(command.words.front());
  if (run.end == MeteredRun::End::kStopped) throw Stop{};
  if (run.end == MeteredRun::End::kTimeout) {
    throw UsageError(fmt::format("'{}' did not end within {:g} s", name, timeout_s), "give --timeout SECONDS");
  }
  if (run.end == MeteredRun::End::kEnded && run.exited && run.code == 0) return run;
  const std::string how = run.end == MeteredRun::End::kNotStarted ? "could not be started: " + run.why_not_started
                          : run.exited                            ? "ended with " + end_text(run.exited, run.code)
                                                                  : "was " + end_text(run.exited, run.code);
  const std::string said = last_line_of_file(command.errors);
  throw UsageError(fmt::format("'{}' {}{}", name, how, said.empty() ? "" : fmt::format(" ({})", one_line(said))),
                   "give a program of Google Benchmark that succeeds");
}

double difference(std::uint64_t before, std::uint64_t after) {
  return static_cast<double>(static_cast<std::int64_t>(after - before));
}

/// What happened between two marks, for each of so many iterations.
Counts counts_between(const record::Mark& begin, const record::Mark& end, double iterations) {
  Counts counts;
  const double grown = difference(begin.anonymous_bytes, end.anonymous_bytes);
  const double returned = difference(begin.returned_bytes, end.returned_bytes);
  const double zeroed = std::max(0.0, grown + returned);
  const double new_peak = difference(begin.peak_bytes, end.peak_bytes);
  counts.minor_faults = difference(begin.minor_faults, end.minor_faults) / iterations;
  counts.kernel_zeroed_bytes = zeroed / iterations;
  counts.refilled_bytes = std::max(0.0, zeroed - new_peak) / iterations;
  counts.returned_bytes = returned / iterations;
  counts.zeroed_bytes = difference(begin.zeroed_bytes, end.zeroed_bytes) / iterations;
  counts.by_hand_bytes = difference(begin.by_hand_bytes, end.by_hand_bytes) / iterations;
  counts.calls = difference(begin.calls, end.calls) / iterations;
  return counts;
}

/// Adds another repetition to the mean of those before.
void add_to_mean(Counts& mean, const Counts& more, double before) {
  constexpr double Counts::*kAll[] = {&Counts::minor_faults,   &Counts::kernel_zeroed_bytes, &Counts::refilled_bytes,
                                      &Counts::returned_bytes, &Counts::zeroed_bytes,        &Counts::by_hand_bytes,
                                      &Counts::calls};
  for (const auto field : kAll) mean.*field = (mean.*field * before + more.*field) / (before + 1);
}

}  // namespace

std::map<std::string, Measured<Counts>> counts_of(const std::vector<Reported>& repetitions,
                                                  const std::vector<const record::Mark*>& marks) {
  // Both are the same readings of the clock: only the rounding of the mean lies between.
  constexpr double kSlack_ns = 100;
  constexpr double kPart = 1e-6;
  std::map<std::string, Measured<Counts>> all;
  std::map<std::string, double> seen;
  std::vector<bool> used(marks.size(), false);
  for (const Reported& each : repetitions) {
    const double expected = each.real_ns * each.iterations;
    double best = kSlack_ns + kPart * expected;
    std::size_t at = marks.size();
    for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
      if (used[i] || marks[i]->tid != marks[i + 1]->tid || marks[i]->pid != marks[i + 1]->pid) continue;
      const double off = std::abs(static_cast<double>(marks[i + 1]->ns - marks[i]->ns) - expected);
      if (off >= best) continue;
      best = off;
      at = i;
    }
    if (at == marks.size()) {
      all[each.name] = NotAvailable{"its timed loop was not found: it pauses its clock, has threads, or times itself"};
      continue;
    }
    used[at] = true;
    const Counts counts = counts_between(*marks[at], *marks[at + 1], each.iterations);
    const auto [entry, is_new] = all.try_emplace(each.name, counts);
    if (!is_new && entry->second) add_to_mean(*entry->second, counts, seen[each.name]);
    seen[each.name] += 1;
  }
  return all;
}

Suite::Suite(std::vector<std::string> words, double timeout_s) : words_(std::move(words)), timeout_s_(timeout_s) {
  target_ = record::resolve_record_target(words_, "", {});
  marks_ = project_library("libzerotax-marks.so");
  if (!has_option(words_, "--benchmark_min_time")) words_.emplace_back(kShortLoops);
}

std::vector<std::string> Suite::list() const {
  const TemporaryFolder folder{"bench"};
  std::vector<std::string> words = words_;
  words.emplace_back("--benchmark_list_tests=true");
  MeteredCommand command = command_of(target_, words, timeout_s_, folder);
  command.output = folder.file("list");
  run_to_success(command, timeout_s_);
  std::ifstream stream(command.output);
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.find(' ') == std::string::npos) names.push_back(line);
  }
  if (names.empty()) {
    throw UsageError(fmt::format("'{}' lists no benchmark", file_name(words_.front())),
                     "give a program of Google Benchmark; for any other: zerotax check -- COMMAND");
  }
  return names;
}

std::vector<std::string> Suite::words_for(const std::vector<std::string>& names, const std::string& out,
                                          bool shuffled) const {
  std::vector<std::string> words = words_;
  words.push_back("--benchmark_filter=" + pattern_of(names));
  words.push_back("--benchmark_out=" + out);
  words.emplace_back("--benchmark_out_format=json");
  if (shuffled) {
    words.emplace_back("--benchmark_repetitions=3");
    words.emplace_back("--benchmark_enable_random_interleaving=true");
  }
  return words;
}

std::vector<Reported> Suite::timed(const std::vector<std::string>& names, const Variables& variables) const {
  const TemporaryFolder folder{"bench"};
  const std::string out = folder.file("out.json");
  const double limit_s = timeout_s_ * static_cast<double>(names.size());
  MeteredCommand command = command_of(target_, words_for(names, out, false), limit_s, folder);
  command.environment.assign(variables.begin(), variables.end());
  run_to_success(command, limit_s);
  return read_google_benchmark(out);
}

CountedRun Suite::counted(const std::vector<std::string>& names, const Variables& variables, bool shuffled) const {
  const TemporaryFolder folder{"bench"};
  const std::string out = folder.file("out.json");
  const double limit_s = timeout_s_ * static_cast<double>(names.size()) * (shuffled ? 3 : 1);
  MeteredCommand command = command_of(target_, words_for(names, out, shuffled), limit_s, folder);
  record::RecordArena arena;
  for (auto [key, value] : record::recorded_command(target_, arena).environment) {
    if (key == "LD_PRELOAD") value += ":" + marks_;
    command.environment.emplace_back(key, value);
  }
  for (const auto& variable : variables) command.environment.emplace_back(variable);
  command.fixed_layout = true;
  const std::string started = utc_now();
  const MeteredRun run = run_to_success(command, limit_s);
  CountedRun found;
  found.recorded = programs::run_of(record_result(target_, record::foreground_result(run), arena, started),
                                    file_name(words_.front()));
  std::size_t missing = 0;
  found.counts = counts_of(read_google_benchmark(out), arena.marks(missing));
  return found;
}

}  // namespace zerotax::bench
