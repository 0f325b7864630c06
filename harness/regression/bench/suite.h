#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baseline/program.h"
#include "bench/framework.h"
#include "bench/result.h"

namespace zerotax::bench {

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
