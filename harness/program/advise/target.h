#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/result.h"
#include "files/folders.h"
#include "run/metered_run.h"

namespace zerotax::advise {

/// The program to give advice on, with options that have been checked.
struct Target : Program {
  std::string program;  ///< path of the program's file
  double timeout_s = 60;
  bool ignore_output = false;
  bool idle = false;  ///< whether each run of a server waits for the server's memory at idle; otherwise only the first
                      ///< runs with the same variables wait, because a wait takes up to a second
  bool copies = false;  ///< whether to count the pages that each run copies after its forks

  [[nodiscard]] bool is_server() const { return !load.empty(); }
};

/// Runs the program repeatedly, and compares each run's exit status and output with those of the first run.
class TargetRunner {
 public:
  using Variables = std::map<std::string, std::string>;
  using Words = std::vector<std::string>;

  explicit TargetRunner(Target target);

  /// Runs the unchanged program. Throws UsageError if the run fails, or if its output differs from the first run's.
  Trial run_present();
  /// Runs a trial with these environment variables, this launcher (Remedy::launcher) and a memory limit.
  Trial run(const Variables& variables, const Words& launcher);
  /// Runs the program once with these variables. Returns the outcome even if the run failed. `memory_limit` is that of
  /// MeteredCommand.
  MeteredRun run_once(const Variables& variables, std::uint64_t memory_limit = 0, const Words& launcher = {});
  /// Returns the memory limit of a trial in bytes (judge/evidence.h), at most the machine's free memory; 0 before the
  /// first unchanged run.
  [[nodiscard]] std::uint64_t memory_limit() const;
  [[nodiscard]] bool succeeded(const MeteredRun& run) const { return why_failed(run).empty(); }
  /// Whether the output of the last run equals that of the first unchanged run.
  [[nodiscard]] bool same_output() const { return target_.ignore_output || last_output_ == reference_; }

  [[nodiscard]] const Target& target() const { return target_; }
  /// Wall time (Figures::wall_s) of the longest unchanged run so far, in seconds.
  [[nodiscard]] double wall_s() const { return longest_s_; }
  /// Elapsed time (Trial::took_s) of the longest unchanged run so far, in seconds.
  [[nodiscard]] double run_s() const { return run_s_; }

 private:
  /// Runs the program once, and counts its copies if the target asks for them.
  MeteredRun run_watched(const Variables& variables, std::uint64_t memory_limit, const Words& launcher);
  [[nodiscard]] Trial trial_of(const MeteredRun& run) const;
  /// Returns the reason why a run failed; empty if the run succeeded.
  [[nodiscard]] std::string why_failed(const MeteredRun& run) const;
  /// Returns the first line that the last run wrote to standard error. If standard error was empty, returns the first
  /// line of standard output. May be empty.
  [[nodiscard]] std::string first_words() const;

  Target target_;
  TemporaryFolder folder_{"advise"};
  std::optional<std::uint64_t> reference_;  ///< hash of the first unchanged run's output
  std::optional<std::uint64_t> last_output_;
  std::optional<Copies> last_copies_;
  double longest_s_ = 0;
  double run_s_ = 0;
  double last_took_s_ = 0;
  double peak_bytes_ = 0;               ///< peak memory of the unchanged runs
  std::string last_tried_;              ///< variables of the last run with a remedy
  std::map<Variables, unsigned> runs_;  ///< number of runs with these variables
};

Figures figures_of(const MeteredRun& run);

}  // namespace zerotax::advise
