#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baseline/program.h"
#include "bench/result.h"

namespace zerotax::bench {

/// The timed part of a benchmark: one stretch, or several stretches of which only the total time is known.
struct Loop {
  double iterations = 0;
  double ns = 0;
  double slack_ns = 0;  ///< uncertainty of the length, from the readings of the clock
  std::size_t stretches = 1;
};

/// One repetition of a benchmark, as the program reports it.
struct Reported {
  std::string name;
  std::string choice;  ///< the word that selects the benchmark: its own name, or the name of a group that can only run
                       ///< as a whole
  double real_ns = 0;  ///< time of an iteration
  std::vector<Loop> loops;
};

struct Listed {
  std::string name;
  std::string choice;
};

/// Recognizes and runs the programs of a framework. In words and variables, {} stands for a folder for results.
struct Framework {
  const char* name;
  const char* sign;                             ///< an option that only this framework's --help shows
  bool of_real_time;                            ///< whether the framework's loops read only the clock of real time
  std::vector<std::vector<std::string>> usual;  ///< options that make loops short, with their words; each is added
                                                ///< unless the user gives it
  std::vector<std::string> listing;             ///< words of the run that lists benchmarks; its output is the file
                                                ///< `list`
  std::vector<std::string> running;             ///< words of every other run
  Variables env;
  std::vector<std::string> shuffling;  ///< words that select a random order
  int repetitions;                     ///< number of repetitions of each benchmark in a shuffled run
  const char* not_shuffled;            ///< why benchmarks cannot be shuffled; empty if they can
  bool words_are_filters;              ///< whether words that belong to no option select benchmarks; zerotax replaces
                                       ///< these words
  std::vector<std::string> valued;     ///< options whose value is the next word
  std::vector<std::string> own;        ///< options of the user that are removed, because zerotax sets them

  bool lists_names_alone;  ///< whether the listing does not mark names; a second listing then shows which lines are
                           ///< other output of the program

  /// Returns the benchmarks that a run of `listing` wrote to this folder. May throw the same errors as `read`.
  std::vector<Listed> (*list)(const std::string& folder);
  /// Returns the words that run the benchmarks with these choices and no others.
  std::vector<std::string> (*choose)(const std::vector<std::string>& choices);
  /// Returns the results that a run left in this folder. Throws UsageError if there are none.
  std::vector<Reported> (*read)(const std::string& folder);
};

const std::vector<Framework>& frameworks();
/// Returns the names of the frameworks: "Google Benchmark, Catch2 or criterion".
std::string framework_names();

/// Reads the file that Google Benchmark writes with --benchmark_out (document.cc).
std::vector<Reported> read_google_benchmark(const std::string& folder);
/// Reads the folders of criterion (document.cc).
std::vector<Reported> read_criterion(const std::string& folder);
/// Reads the output of Catch2's "xml" reporter (framework.cc). Versions 2 and 3 of Catch2 write the same format.
std::vector<Reported> read_catch2(const std::string& folder);

/// The result of a run with the recorder.
struct CountedRun {
  std::map<std::string, Measured<Counts>> counts;  ///< counts of an iteration, by benchmark: the mean of its
                                                   ///< repetitions
  record::runs::CommandRun recorded;               ///< counts of the run as a whole
};

/// A program of benchmarks that uses a known framework.
class Suite {
 public:
  /// `words` is the command with the user's options, and `timeout_s` applies to each benchmark. Lists the benchmarks of
  /// the program. Throws UsageError if the program cannot be recorded, uses no known framework, or lists no benchmark.
  /// Throws Stop.
  Suite(const std::vector<std::string>& words, double timeout_s);

  /// Returns the benchmarks that the program's options select, in order.
  [[nodiscard]] const std::vector<std::string>& list() const { return names_; }
  /// Returns why the benchmarks cannot be shuffled; empty if they can.
  [[nodiscard]] std::string not_shuffled() const { return framework_->not_shuffled; }
  /// Runs these benchmarks in order, with these variables. Throws UsageError if the program fails, and Stop.
  [[nodiscard]] std::vector<Reported> timed(const std::vector<std::string>& names, const Variables& variables) const;
  /// Runs these benchmarks with the recorder; with `shuffled`, in random order.
  [[nodiscard]] CountedRun counted(const std::vector<std::string>& names, const Variables& variables,
                                   bool shuffled = false) const;

 private:
  void add_usual(const std::vector<std::string>& words);
  [[nodiscard]] std::vector<Listed> listed(const std::optional<std::vector<std::string>>& choices) const;
  void leave_out_prose(std::vector<Listed>& all) const;
  void ask_for_names();
  [[nodiscard]] record::runs::Target target_for(const std::vector<std::string>& names, const Variables& variables,
                                                const std::string& folder) const;

  record::runs::Target target_;  ///< the command with the words that select the user's benchmarks
  const Framework* framework_;
  std::vector<std::string> words_;  ///< the words of the command without filters
  std::vector<std::string> names_;
  Variables choices_;  ///< by name
  std::string marks_;  ///< path of the library that marks timed loops
};

/// Returns the words of a command without the options that zerotax sets itself. Unless `filters`, also omits the
/// options that select benchmarks. If another command runs the program, keeps all words up to the program file.
std::vector<std::string> kept_words(const std::vector<std::string>& words, const Framework& framework, bool filters);

/// Returns the counts of one iteration of each benchmark, from the marks around the timed loops of its repetitions.
/// The counts are n/a for a benchmark without a marked loop, for example if the benchmark pauses its clock or measures
/// time itself.
std::map<std::string, Measured<Counts>> counts_of(const std::vector<Reported>& repetitions,
                                                  const std::vector<const record::Mark*>& marks);

}  // namespace zerotax::bench
