#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/exchange_options.h"
#include "cli/measure_options.h"
#include "run/interrupt.h"

namespace zerotax::baseline {

/// The options of `bless` and `check`.
struct Options {
  MeasureOptions measure;  ///< of a command: at most one allocator, under which the command runs
  std::string baseline;    ///< a file, or a folder of them
  std::string name;        ///< of a command; empty: that of its file
  bool force = false;
  // Of bless:
  std::int64_t rounds = 10;    ///< of a command, at most
  bool allow_failing = false;  ///< of a command: another exit status than 0 is how it ends
  bool thresholds = false;
  // Of check:
  std::vector<std::string> only;
  std::vector<std::string> tolerances;
  bool explain = false;
  bool strict = false;
  ExchangeOptions exchange;
};

/// Measures allocators, and writes what they do into their baselines.
ExitStatus bless_allocators(const Options& options);
/// Compares allocators with their baselines.
ExitStatus check_allocators(const Options& options);

/// Runs a command at least three times and `rounds` times at most, and writes what it does into the baseline, beside
/// the others there. `words`: the command, or several recordings, each a command.
ExitStatus bless_programs(const Options& options, const std::vector<std::string>& words);
/// Compares commands with their baselines.
ExitStatus check_programs(const Options& options, const std::vector<std::string>& words);

/// Checks subjects one after the other, and reports all results. After a signal, reports the results so far, or throws
/// Stop if there are none.
template <typename Subject, typename Check, typename Report>
ExitStatus check_each(const std::vector<Subject>& subjects, const Check& check, const Report& report) {
  std::vector<decltype(check(subjects.front()))> results;
  try {
    for (const Subject& subject : subjects) results.push_back(check(subject));
  } catch (const Stop&) {
    if (results.empty()) throw;
    report(std::move(results));
    say_interrupted();
    return ExitStatus::kDone;
  }
  return report(std::move(results));
}

/// Refusals of an option for allocators if a command is given, and of an option for a command if none is given.
inline const Refusal kOfAllocators{"{0} is for an allocator, but a command is given after --",
                                   "leave out {0}, or -- and everything after it"};
inline const Refusal kOfCommands{"{0} is for a command, but none is given", "leave it out, or add -- and the command"};
/// --name: the name of a command in its baseline.
void add_name(Arguments& arguments, std::string& name);

}  // namespace zerotax::baseline
