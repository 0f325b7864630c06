#include "bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "files/temporary_folder.h"
#include "programs/measure.h"
#include "run/program_launch.h"

namespace zerotax::bench {
namespace {

constexpr const char* kShortLoops = "--benchmark_min_time=0.1";
constexpr const char* kRemedy = "give a program of Google Benchmark that succeeds";
constexpr int kRepetitions = 3;  ///< of each benchmark, where they are shuffled

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

Suite::Suite(const std::vector<std::string>& words, double timeout_s)
    : target_(programs::target_for(words, "", timeout_s)), marks_(project_library("libzerotax-marks.so")) {
  if (!has_option(words, "--benchmark_min_time")) target_.recorded.words.emplace_back(kShortLoops);
}

std::vector<std::string> Suite::list() const {
  const TemporaryFolder folder{"bench"};
  programs::Target target = target_;
  target.recorded.words.emplace_back("--benchmark_list_tests=true");
  target.output = folder.file("list");
  programs::run_plain(target, kRemedy);
  std::ifstream stream(target.output);
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.find(' ') == std::string::npos) names.push_back(line);
  }
  if (names.empty()) {
    throw UsageError(fmt::format("'{}' lists no benchmark", target.name),
                     "give a program of Google Benchmark; for any other: zerotax check -- COMMAND");
  }
  return names;
}

programs::Target Suite::target_for(const std::vector<std::string>& names, const Variables& variables,
                                   const std::string& out) const {
  programs::Target target = target_;
  target.env = variables;
  target.timeout_s *= static_cast<double>(names.size());
  for (const std::string& word : {"--benchmark_filter=" + pattern_of(names), "--benchmark_out=" + out,
                                  std::string("--benchmark_out_format=json")}) {
    target.recorded.words.push_back(word);
  }
  return target;
}

std::vector<Reported> Suite::timed(const std::vector<std::string>& names, const Variables& variables) const {
  const TemporaryFolder folder{"bench"};
  const std::string out = folder.file("out.json");
  programs::run_plain(target_for(names, variables, out), kRemedy);
  return read_google_benchmark(out);
}

CountedRun Suite::counted(const std::vector<std::string>& names, const Variables& variables, bool shuffled) const {
  const TemporaryFolder folder{"bench"};
  const std::string out = folder.file("out.json");
  programs::Target target = target_for(names, variables, out);
  target.preload = marks_;
  if (shuffled) {
    target.timeout_s *= kRepetitions;
    target.recorded.words.push_back(fmt::format("--benchmark_repetitions={}", kRepetitions));
    target.recorded.words.emplace_back("--benchmark_enable_random_interleaving=true");
  }
  record::RecordArena arena;
  CountedRun found;
  found.recorded = programs::run_once(target, arena);
  programs::check_exit_status(found.recorded, target.name, 0, kRemedy);
  found.counts = counts_of(read_google_benchmark(out), arena.marks());
  return found;
}

}  // namespace zerotax::bench
