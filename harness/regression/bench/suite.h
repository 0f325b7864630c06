#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baseline/program.h"
#include "bench/result.h"

namespace zerotax::bench {

using Variables = std::map<std::string, std::string>;

/// What was timed in one stretch, or in several of which only the sum is known.
struct Loop {
  double iterations = 0;
  double ns = 0;
  double slack_ns = 0;  ///< how far the clock's readings may be off that
  std::size_t stretches = 1;
};

/// One repetition of a benchmark, as the program reports it.
struct Reported {
  std::string name;
  std::string choice;  ///< the word that chooses it: its own name, or that of a group that can only run as a whole
  double real_ns = 0;  ///< of an iteration
  std::vector<Loop> loops;
};

struct Listed {
  std::string name;
  std::string choice;
};

/// How the programs of a framework are recognised and run. In words and variables, {} stands for a folder for results.
struct Framework {
  const char* name;
  const char* sign;                             ///< an option that --help shows in no other's
  bool of_real_time;                            ///< its loops read no clock but that of real time
  std::vector<std::vector<std::string>> usual;  ///< options with their words, each unless it is given: short loops
  std::vector<std::string> listing;             ///< words of the run that lists; its output is the file `list`
  std::vector<std::string> running;             ///< words of each other run
  Variables env;
  std::vector<std::string> shuffling;  ///< words for another order
  int repetitions;                     ///< of each, when they are shuffled
  const char* not_shuffled;            ///< why they cannot be; empty: they can
  bool words_are_filters;              ///< words that belong to no option choose benchmarks: others take their place
  std::vector<std::string> valued;     ///< options that the next word belongs to
  std::vector<std::string> own;        ///< options that are left out, because zerotax sets them

  bool lists_names_alone;  ///< without marks: other output of the program is found by listing again

  /// The benchmarks that a run of `listing` lists in this folder. May throw like `read`.
  std::vector<Listed> (*list)(const std::string& folder);
  /// The words that run benchmarks with these choices and no others.
  std::vector<std::string> (*choose)(const std::vector<std::string>& choices);
  /// The results that a run left in this folder. Throws UsageError if there are none.
  std::vector<Reported> (*read)(const std::string& folder);
};

const std::vector<Framework>& frameworks();
/// "Google Benchmark, Catch2 or criterion".
std::string framework_names();

/// What Google Benchmark writes by --benchmark_out (document.cc).
std::vector<Reported> read_google_benchmark(const std::string& folder);
/// criterion's folders (document.cc).
std::vector<Reported> read_criterion(const std::string& folder);
/// What Catch2's reporter "xml" writes (catch2.cc): version 2 and 3 say it alike.
std::vector<Reported> read_catch2(const std::string& folder);

/// What a run with the recorder showed.
struct CountedRun {
  std::map<std::string, Measured<Counts>> counts;  ///< of an iteration, by benchmark; the mean of its repetitions
  record::runs::CommandRun recorded;               ///< as a whole
};

/// A program of benchmarks, of a framework that is known.
class Suite {
 public:
  /// `words`: the command with the user's options; `timeout_s`: of each benchmark. Asks it for its benchmarks. Throws
  /// UsageError if it cannot be recorded, is of no known framework, or lists no benchmark; Stop.
  Suite(const std::vector<std::string>& words, double timeout_s);

  /// The benchmarks that its options choose, in their order.
  [[nodiscard]] const std::vector<std::string>& list() const { return names_; }
  /// Why they cannot be shuffled; empty: they can.
  [[nodiscard]] std::string not_shuffled() const { return framework_->not_shuffled; }
  /// Runs these in their order, with these variables. Throws UsageError if it fails, Stop.
  [[nodiscard]] std::vector<Reported> timed(const std::vector<std::string>& names, const Variables& variables) const;
  /// The same with the recorder; `shuffled`: in random order.
  [[nodiscard]] CountedRun counted(const std::vector<std::string>& names, const Variables& variables,
                                   bool shuffled = false) const;

 private:
  void add_usual(const std::vector<std::string>& words);
  [[nodiscard]] std::vector<Listed> listed(const std::optional<std::vector<std::string>>& choices) const;
  void leave_out_prose(std::vector<Listed>& all) const;
  void ask_for_names();
  [[nodiscard]] record::runs::Target target_for(const std::vector<std::string>& names, const Variables& variables,
                                                const std::string& folder) const;

  record::runs::Target target_;  ///< its words choose what the user chose
  const Framework* framework_;
  std::vector<std::string> words_;  ///< the same without filters
  std::vector<std::string> names_;
  Variables choices_;  ///< by name
  std::string marks_;  ///< the library that marks timed loops
};

/// The words of a command without the options that zerotax sets itself, and, unless `filters`, without those that
/// choose benchmarks. Words up to the program file itself, of a command that runs it, are kept.
std::vector<std::string> kept_words(const std::vector<std::string>& words, const Framework& framework, bool filters);

/// Of the repetitions of a run, what one iteration took, from the marks around its timed loops: n/a for one that has
/// none, as where the benchmark pauses its clock or measures time by itself.
std::map<std::string, Measured<Counts>> counts_of(const std::vector<Reported>& repetitions,
                                                  const std::vector<const record::Mark*>& marks);

}  // namespace zerotax::bench
