#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/result.h"
#include "programs/run.h"

namespace zerotax::bench {

/// One repetition of a benchmark, as the program reports it.
struct Reported {
  std::string name;
  double iterations = 0;
  double real_ns = 0;  ///< of an iteration
};

/// What a run with the recorder showed.
struct CountedRun {
  std::map<std::string, Measured<Counts>> counts;  ///< of an iteration, by benchmark; the mean of its repetitions
  programs::CommandRun recorded;                   ///< as a whole
};

using Variables = std::map<std::string, std::string>;

/// A program of Google Benchmark.
class Suite {
 public:
  /// `words`: the command with the user's options; `timeout_s`: of each benchmark. Throws UsageError if it cannot be
  /// recorded.
  Suite(const std::vector<std::string>& words, double timeout_s);

  /// The benchmarks that its options choose, in their order. Throws UsageError if it lists none.
  [[nodiscard]] std::vector<std::string> list() const;
  /// Runs these in their order, with these variables. Throws UsageError if it fails, Stop.
  [[nodiscard]] std::vector<Reported> timed(const std::vector<std::string>& names, const Variables& variables) const;
  /// The same with the recorder; `shuffled`: three times each, in random order.
  [[nodiscard]] CountedRun counted(const std::vector<std::string>& names, const Variables& variables,
                                   bool shuffled = false) const;

 private:
  [[nodiscard]] programs::Target target_for(const std::vector<std::string>& names, const Variables& variables,
                                            const std::string& out) const;

  programs::Target target_;
  std::string marks_;  ///< the library that marks timed loops
};

/// Of the repetitions of a run, what one iteration took, from the marks around its timed loop: n/a for one that has
/// none, as where the benchmark pauses its clock or measures time by itself.
std::map<std::string, Measured<Counts>> counts_of(const std::vector<Reported>& repetitions,
                                                  const std::vector<const record::Mark*>& marks);

/// The file that Google Benchmark writes by --benchmark_out (document.cc). Throws UsageError for anything else.
std::vector<Reported> read_google_benchmark(const std::string& path);

}  // namespace zerotax::bench
