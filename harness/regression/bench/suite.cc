#include "bench/suite.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "baseline/program.h"
#include "files/folders.h"
#include "os/input_file.h"
#include "run/program_launch.h"

namespace zerotax::bench {
namespace {

using Marks = std::vector<const record::Mark*>;

double difference(std::uint64_t before, std::uint64_t after) {
  return static_cast<double>(static_cast<std::int64_t>(after - before));
}

/// Adds the difference of the counts between two marks.
void add_between(const record::Mark& begin, const record::Mark& end, Counts& counts) {
  const double grown = difference(begin.anonymous_bytes, end.anonymous_bytes);
  const double returned = difference(begin.returned_bytes, end.returned_bytes);
  const double zeroed = std::max(0.0, grown + returned);
  const double new_peak = difference(begin.peak_bytes, end.peak_bytes);
  counts.minor_faults += difference(begin.minor_faults, end.minor_faults);
  counts.kernel_zeroed_bytes += zeroed;
  counts.refilled_bytes += std::max(0.0, zeroed - new_peak);
  counts.returned_bytes += returned;
  counts.zeroed_bytes += difference(begin.zeroed_bytes, end.zeroed_bytes);
  counts.by_hand_bytes += difference(begin.by_hand_bytes, end.by_hand_bytes);
  counts.calls += difference(begin.calls, end.calls);
}

/// Returns the total length of a loop's stretches if its first stretch begins at mark `at`. Returns nothing if the
/// marks from there are not one loop, such as marks of several threads.
std::optional<double> length_of(const Loop& loop, const Marks& marks, const std::vector<bool>& used, std::size_t at) {
  if (at + 2 * loop.stretches > marks.size()) return std::nullopt;
  double ns = 0;
  for (std::size_t i = at; i < at + 2 * loop.stretches; ++i) {
    const bool begins = (i - at) % 2 == 0;
    if ((begins && used[i]) || marks[i]->tid != marks[at]->tid || marks[i]->pid != marks[at]->pid) return std::nullopt;
    // Rejects a stretch in which the program measures its clock. On a busy machine, that stretch may by chance be as
    // long as the loop.
    if (i != at && marks[i]->later_readings != 0) return std::nullopt;
    if (!begins) ns += static_cast<double>(marks[i]->ns - marks[i - 1]->ns);
    if (ns > loop.ns + loop.slack_ns) return std::nullopt;
  }
  return ns;
}

/// Finds a loop by its length, and adds its counts. Returns false if there is no such loop.
bool add_loop(const Loop& loop, const Marks& marks, std::vector<bool>& used, Counts& counts) {
  double best = loop.slack_ns;
  std::size_t found = marks.size();
  // A loop of several stretches takes the first match, because benchmarks are reported in the order of their runs, and
  // many loops are equally long.
  const bool in_order = loop.stretches > 1;
  for (std::size_t at = 0; at < marks.size() && (!in_order || found == marks.size()); ++at) {
    const std::optional<double> ns = length_of(loop, marks, used, at);
    if (!ns || std::abs(*ns - loop.ns) >= best) continue;
    best = std::abs(*ns - loop.ns);
    found = at;
  }
  if (found == marks.size()) return false;
  const std::size_t last = found + 2 * loop.stretches - 1;
  for (std::size_t i = found; i < last; i += 2) add_between(*marks[i], *marks[i + 1], counts);
  // The last mark stays unused, because it may be the beginning of the next loop.
  for (std::size_t i = in_order ? 0 : found; i < last; ++i) used[i] = true;
  return true;
}

std::string remedy() { return fmt::format("give a program of {} that succeeds", framework_names()); }

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Returns the name of an option, such as "--order" for "--order=rand".
std::string option_of(const std::string& word) { return word.substr(0, word.find('=')); }

/// Returns the text with the path of a folder in place of {}.
std::string in_folder(std::string text, const std::string& folder) {
  const std::size_t place = text.find("{}");
  return place == std::string::npos ? text : text.replace(place, 2, folder);
}

void add_words(const std::vector<std::string>& words, const std::string& folder, record::runs::Target& target) {
  for (const std::string& word : words) target.recorded.words.push_back(in_folder(word, folder));
}

/// Returns the framework of a program. The options that the program's --help lists identify the framework.
const Framework& framework_of(const record::runs::Target& asked) {
  const TemporaryFolder folder{"bench"};
  record::runs::Target target = asked;
  target.recorded.words.emplace_back("--help");
  target.output = folder.file("help");
  record::runs::run_plain(target, remedy());
  const std::string help = read_input_file(target.output);
  for (const Framework& each : frameworks()) {
    if (help.find(each.sign) != std::string::npos) return each;
  }
  throw UsageError(fmt::format("'{}' uses no known benchmark framework", target.name),
                   fmt::format("give a program of {}; for any other: zerotax check -- COMMAND", framework_names()));
}

}  // namespace

std::map<std::string, Measured<Counts>> counts_of(const std::vector<Reported>& repetitions, const Marks& marks) {
  std::map<std::string, Measured<Counts>> all;
  std::map<std::string, double> iterations;
  std::vector<bool> used(marks.size(), false);
  for (const Reported& each : repetitions) {
    Measured<Counts>& counts = all.try_emplace(each.name, Counts{}).first->second;
    for (const Loop& loop : each.loops) {
      if (counts && !add_loop(loop, marks, used, *counts)) {
        counts = NotAvailable{
            "the timed loop was not found: the benchmark pauses its clock, has threads, or measures time itself"};
      }
      iterations[each.name] += loop.iterations;
    }
  }
  for (auto& [name, counts] : all) {
    if (!counts) continue;
    for (const CountRow& row : kCounts) *counts.*row.of /= iterations[name];
  }
  return all;
}

std::vector<std::string> kept_words(const std::vector<std::string>& words, const Framework& framework, bool filters) {
  std::size_t program = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::error_code failure;
    if (std::filesystem::is_regular_file(words[i], failure) && ::access(words[i].c_str(), X_OK) == 0) program = i;
  }
  std::vector<std::string> kept(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(program) + 1);
  for (std::size_t i = program + 1; i < words.size(); ++i) {
    const bool is_option = words[i].starts_with('-');
    const bool has_value = contains(framework.valued, words[i]) && i + 1 < words.size();
    const bool is_left_out =
        is_option ? contains(framework.own, option_of(words[i])) : framework.words_are_filters && !filters;
    if (!is_left_out) kept.push_back(words[i]);
    if (has_value && !is_left_out) kept.push_back(words[i + 1]);
    if (has_value) ++i;
  }
  return kept;
}

Suite::Suite(const std::vector<std::string>& words, double timeout_s)
    : target_(record::runs::target_for(words, "", timeout_s)),
      framework_(&framework_of(target_)),
      words_(kept_words(words, *framework_, false)),
      marks_(project_library("libzerotax-marks.so")) {
  target_.recorded.words = kept_words(words, *framework_, true);
  add_usual(words);
  ask_for_names();
}

void Suite::add_usual(const std::vector<std::string>& words) {
  for (const std::vector<std::string>& usual : framework_->usual) {
    const std::string option = option_of(usual.front());
    if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return option_of(word) == option; })) continue;
    for (std::vector<std::string>* const all : {&target_.recorded.words, &words_}) {
      all->insert(all->end(), usual.begin(), usual.end());
    }
  }
}

/// Returns the benchmarks that a run lists: `choices`, or, if `choices` is empty, the benchmarks that the user
/// selected.
std::vector<Listed> Suite::listed(const std::optional<std::vector<std::string>>& choices) const {
  const TemporaryFolder folder{"bench"};
  record::runs::Target target = target_;
  if (choices) {
    for (const std::string& word : framework_->choose(*choices)) target.recorded.words.push_back(word);
  }
  add_words(framework_->listing, folder.path(), target);
  target.output = folder.file("list");
  record::runs::run_plain(target, remedy());
  return framework_->list(folder.path());
}

/// Removes lines that are not names. The program prints such a line even if no benchmark is selected, or omits the line
/// if all benchmarks are selected by name.
void Suite::leave_out_prose(std::vector<Listed>& all) const {
  if (!framework_->lists_names_alone || all.empty()) return;
  std::vector<std::string> choices;
  choices.reserve(all.size());
  for (const Listed& each : all) choices.push_back(each.choice);
  const auto has = [](const std::vector<Listed>& list, const Listed& wanted) {
    return std::any_of(list.begin(), list.end(), [&](const Listed& each) { return each.choice == wanted.choice; });
  };
  const std::vector<Listed> by_name = listed(choices);
  std::vector<Listed> of_none;
  try {
    of_none = listed(std::vector<std::string>{"no benchmark of zerotax"});
  } catch (const UsageError&) {
    // A program with its own main may fail if no benchmark is selected.
  }
  std::erase_if(all, [&](const Listed& each) { return !has(by_name, each) || has(of_none, each); });
}

void Suite::ask_for_names() {
  std::vector<Listed> all = listed(std::nullopt);
  leave_out_prose(all);
  for (const Listed& each : all) {
    // Benchmarks with the same name cannot run separately, and count as repetitions of one benchmark.
    if (choices_.emplace(each.name, each.choice).second) names_.push_back(each.name);
  }
  if (names_.empty()) {
    throw UsageError(fmt::format("'{}' lists no benchmark", target_.name),
                     "give a program with benchmarks, and a filter that selects some");
  }
}

record::runs::Target Suite::target_for(const std::vector<std::string>& names, const Variables& variables,
                                       const std::string& folder) const {
  record::runs::Target target = target_;
  target.recorded.words = words_;
  target.env = variables;
  for (const auto& [key, value] : framework_->env) target.env[key] = in_folder(value, folder);
  target.timeout_s *= static_cast<double>(names.size());
  std::vector<std::string> choices;
  choices.reserve(names.size());
  for (const std::string& name : names) choices.push_back(choices_.at(name));
  for (const std::string& word : framework_->choose(choices)) target.recorded.words.push_back(word);
  add_words(framework_->running, folder, target);
  return target;
}

std::vector<Reported> Suite::timed(const std::vector<std::string>& names, const Variables& variables) const {
  const TemporaryFolder folder{"bench"};
  record::runs::run_plain(target_for(names, variables, folder.path()), remedy());
  std::vector<Reported> found = framework_->read(folder.path());
  // Ignores benchmarks that ran only because they share a group with a selected benchmark.
  std::erase_if(found, [&](const Reported& each) { return !contains(names, each.name); });
  return found;
}

CountedRun Suite::counted(const std::vector<std::string>& names, const Variables& variables, bool shuffled) const {
  const TemporaryFolder folder{"bench"};
  record::runs::Target target = target_for(names, variables, folder.path());
  target.preload = marks_;
  if (framework_->of_real_time) target.env["ZEROTAX_REAL_TIME_MARKS"] = "1";
  if (shuffled) {
    target.timeout_s *= framework_->repetitions;
    add_words(framework_->shuffling, folder.path(), target);
  }
  record::RecordArena arena;
  CountedRun found;
  found.recorded = record::runs::run_once(target, arena);
  baseline::check_exit_status(found.recorded, target.name, 0, remedy());
  found.counts = counts_of(framework_->read(folder.path()), arena.marks());
  return found;
}

}  // namespace zerotax::bench
