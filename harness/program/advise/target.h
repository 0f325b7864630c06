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

/// The program to give advice on, checked.
struct Target : Program {
  std::string program;  ///< its file
  double timeout_s = 60;
  bool ignore_output = false;

  [[nodiscard]] bool is_server() const { return !load.empty(); }
};

/// Runs it, again and again, and compares how it ends with how it ended first.
class TargetRunner {
 public:
  using Variables = std::map<std::string, std::string>;

  explicit TargetRunner(Target target);

  /// In the present state. Throws UsageError if it does not succeed, or not as the first time.
  Trial run_present();
  /// A trial with these variables, under the memory limit.
  Trial run(const Variables& variables);
  /// One run with these variables, however it ends; `memory_limit` is that of MeteredCommand.
  MeteredRun run_once(const Variables& variables, std::uint64_t memory_limit = 0);
  /// Bytes that a trial may have (judge/evidence.h), at most the free memory; 0 before the first run in the present
  /// state.
  [[nodiscard]] std::uint64_t memory_limit() const;
  [[nodiscard]] bool succeeded(const MeteredRun& run) const { return why_failed(run).empty(); }
  /// Of the last run: whether its output was that of the first run in the present state.
  [[nodiscard]] bool same_output() const { return target_.ignore_output || last_output_ == reference_; }

  [[nodiscard]] const Target& target() const { return target_; }
  /// Of the longest run in the present state, as far as it is known.
  [[nodiscard]] double wall_s() const { return longest_s_; }

 private:
  [[nodiscard]] Trial trial_of(const MeteredRun& run) const;
  /// Empty if it succeeded.
  [[nodiscard]] std::string why_failed(const MeteredRun& run) const;
  /// The first line of the last run's standard error, or else of its output; may be empty.
  [[nodiscard]] std::string first_words() const;

  Target target_;
  TemporaryFolder folder_{"advise"};
  std::optional<std::uint64_t> reference_;  ///< a hash of what it printed
  std::optional<std::uint64_t> last_output_;
  double longest_s_ = 0;
  double peak_bytes_ = 0;   ///< of runs in the present state
  std::string last_tried_;  ///< the variables of the last run
};

Figures figures_of(const MeteredRun& run);

}  // namespace zerotax::advise
