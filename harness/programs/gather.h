#pragma once

#include <cstdint>
#include <functional>

#include "programs/result.h"

namespace zerotax::programs {

using Runner = std::function<CommandRun()>;

/// The values of a process that a run does not have.
const Values& no_values();

/// Adds a run to what others showed: ranges grow, and what only some runs know is n/a. Returns whether a range grew
/// beyond its least slack.
bool add_run(Program& program, const CommandRun& run);

/// A program while runs are added, until no range has grown in the last two, and at least three times.
class Gathering {
 public:
  explicit Gathering(Program& program) : program_(program) {}

  [[nodiscard]] bool is_done() const;
  /// Throws UsageError if it did not end as before.
  void add(const CommandRun& run);

 private:
  Program& program_;
  std::uint64_t quiet_ = 0;  ///< runs since a range grew
};

/// How many runs gather() makes if ranges keep growing, for an option of at most so many.
std::uint64_t gather_runs(std::uint64_t most);

/// Runs a command at least three times, until no range grew in the last two runs, and at most `most` times. Throws
/// UsageError if it does not end alike each time.
void gather(Program& program, const Runner& run, std::uint64_t most);

}  // namespace zerotax::programs
