#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "programs/result.h"

namespace zerotax::programs {

using Runner = std::function<CommandRun()>;

/// The values of a process that a run does not have.
const Values& no_values();

/// Adds a run to what others showed: ranges grow, and what only some runs know is n/a. Returns whether a range grew
/// beyond its least slack.
bool add_run(Program& program, const CommandRun& run);

/// A program while runs are added: three that are alike, or as many as there may be. What differs once may do so
/// rarely: how threads overlap depends on what else the machine does.
class Gathering {
 public:
  explicit Gathering(Program& program) : program_(program) {}

  [[nodiscard]] bool is_done() const;
  /// Throws UsageError if it did not end as before.
  void add(const CommandRun& run);

 private:
  Program& program_;
  bool varied_ = false;  ///< by more than the least slack
};

/// How many runs gather() makes of a command that varies, for an option of at most so many.
std::uint64_t gather_runs(std::uint64_t most);

/// Runs a command three times, and `most` times if these differ. Throws UsageError if it does not end alike each time.
void gather(Program& program, const Runner& run, std::uint64_t most);

/// Throws UsageError, with `remedy`, if a run did not end with this exit status.
void check_exit_status(const CommandRun& run, const std::string& name, int expected, const std::string& remedy);

/// Options for measuring a command.
struct Measuring {
  std::uint64_t most_runs = 10;               ///< `most` of gather()
  bool allow_failing = false;                 ///< accept an exit status other than 0
  std::vector<std::string>* notes = nullptr;  ///< receives the notes of the last run: parts that were not seen
};

/// Measures a command: runs it as gather() does, each third time on busy CPUs. Throws UsageError if the command fails
/// or its exit status varies, and whatever `run` throws.
Program measured(const Command& command, const Measuring& measuring, const Runner& run);

}  // namespace zerotax::programs
