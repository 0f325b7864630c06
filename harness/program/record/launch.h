#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/foreground.h"
#include "point/plan.h"
#include "record/arena.h"
#include "run/metered_run.h"

namespace zerotax::record {

/// A checked description of the command to record.
struct RecordTarget {
  std::vector<std::string> words;      ///< the command
  std::string program;                 ///< path of the command's executable
  std::string library;                 ///< the library to preload into the program
  std::optional<Allocator> allocator;  ///< the allocator to preload instead of the program's own; its `preload` is set
  std::string call_area;               ///< the file that calls are written to (record --calls); empty: none
};

/// Finds the program and the library. `allocator` is NAME or NAME=PATH, or empty for the program's own allocator. `env`
/// has the allocator's settings, each as NAME:KEY=VALUE. Throws UsageError if the command does not exist or cannot be
/// recorded.
RecordTarget resolve_record_target(const std::vector<std::string>& words, const std::string& allocator,
                                   const std::vector<std::string>& env);

/// Returns the command that starts the program with recording, for callers that start it themselves.
ForegroundCommand recorded_command(const RecordTarget& target, const RecordArena& arena);

/// Runs the program, with recording, to its end. Throws UsageError if the program could not be started.
ForegroundResult run_recorded(const RecordTarget& target, const RecordArena& arena);

/// Converts the result of a metered run to the result that run_recorded() returns.
ForegroundResult foreground_result(const MeteredRun& run);

}  // namespace zerotax::record
