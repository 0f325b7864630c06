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
  MeasureOptions measure;  ///< with a command: at most one allocator, under which the command runs
  std::string baseline;    ///< a file, or a folder of baselines
  std::string name;        ///< name of the command; empty: the name of its file
  bool force = false;
  // Options of `bless`:
  std::int64_t rounds = 10;    ///< with a command: maximum number of runs
  bool allow_failing = false;  ///< with a command: accept an exit status other than 0 as its result
  bool resident = false;       ///< with a command: also measure freed memory that stays resident
  bool thresholds = false;
  // Options of `check`:
  std::vector<std::string> only;
  std::vector<std::string> tolerances;
  bool explain = false;
  bool strict = false;
  bool prove = false;
  ExchangeOptions exchange;
};

/// Measures allocators, and writes their metrics into baselines.
ExitStatus bless_allocators(const Options& options);
/// Compares allocators with their baselines.
ExitStatus check_allocators(const Options& options);

/// Runs a command at least three times and at most `rounds` times, and adds its metrics to the baseline. `words` is the
/// command, or several recordings, each of which counts as a command.
ExitStatus bless_programs(const Options& options, const std::vector<std::string>& words);
/// Compares commands with their baselines.
ExitStatus check_programs(const Options& options, const std::vector<std::string>& words);

/// Checks subjects one after the other, and reports all results. After a signal, reports the results that exist, or
/// throws Stop if no result exists.
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

/// Errors for an option of allocators that is given with a command, and for an option of commands that is given without
/// a command.
inline const Refusal kOfAllocators{"{0} is for an allocator, but a command is given after --",
                                   "leave out {0}, or -- and everything after it"};
inline const Refusal kOfCommands{"{0} is for a command, but none is given", "leave out {0}, or add -- and the command"};
/// --name: the name of a command in its baseline.
void add_name(Arguments& arguments, std::string& name);

}  // namespace zerotax::baseline
