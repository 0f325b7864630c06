#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "programs/gather.h"
#include "programs/run.h"

namespace zerotax::programs {

/// Throws UsageError, with `remedy`, if a run did not end with this exit status.
void check_exit_status(const CommandRun& run, const std::string& name, int expected, const std::string& remedy);

/// How a command is measured.
struct Measuring {
  std::uint64_t most_runs = 10;               ///< as gather() has it
  bool allow_failing = false;                 ///< an exit status other than 0 is how it ends
  std::vector<std::string>* notes = nullptr;  ///< gets what was not seen of the last run
};

/// What a command does: runs it as gather() says, each third time on busy CPUs. Throws UsageError if it fails, or does
/// not end alike each time, and what `run` throws.
Program measured(const Command& command, const Measuring& measuring, const Runner& run);

}  // namespace zerotax::programs
