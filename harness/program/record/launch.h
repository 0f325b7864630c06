#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/foreground.h"
#include "point/plan.h"
#include "record/arena.h"
#include "run/metered_run.h"

namespace zerotax::record {

/// What to record, checked.
struct RecordTarget {
  std::vector<std::string> words;      ///< the command
  std::string program;                 ///< its file
  std::string library;                 ///< what is preloaded into it
  std::optional<Allocator> allocator;  ///< instead of its own; with `preload` set
  std::string call_area;               ///< the file that calls are noted in (record --calls); empty: none
};

/// Finds the program and the library. `allocator` is NAME or NAME=PATH, or empty for the program's own; `env` are words
/// NAME:KEY=VALUE for it. Throws UsageError for a command that is not there or cannot be recorded, and says why.
RecordTarget resolve_record_target(const std::vector<std::string>& words, const std::string& allocator,
                                   const std::vector<std::string>& env);

/// The program as it is started to be recorded, for whoever runs it himself.
ForegroundCommand recorded_command(const RecordTarget& target, const RecordArena& arena);

/// Runs the program, recorded, to its end. Throws UsageError if it could not be started.
ForegroundResult run_recorded(const RecordTarget& target, const RecordArena& arena);

/// What run_recorded would say of a program that was run out of sight.
ForegroundResult foreground_result(const MeteredRun& run);

}  // namespace zerotax::record
