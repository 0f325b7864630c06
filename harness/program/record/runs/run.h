#pragma once

#include <string>

#include "record/launch.h"
#include "record/runs/result.h"
#include "run/allocators.h"
#include "run/metered_run.h"

namespace zerotax::record::runs {

/// A command to run, checked.
struct Target : Command {
  RecordTarget recorded;
  double timeout_s = 60;
  std::string allocator;  ///< under which it runs, as the command line has it; empty: its own
  std::string folder;     ///< in which it runs; empty: where we do
  std::string output;     ///< a file that gets its output; empty: none
  std::string preload;    ///< a library beside the recorder; empty: none
  std::string outside;    ///< why it is counted from outside, as in "is statically linked"; empty: it is recorded
};

/// Finds the program of a command, and the allocator it is to run under (empty: its own). Throws UsageError if it
/// cannot be recorded.
Target target_for(const std::vector<std::string>& words, const std::string& name, double timeout_s,
                  const std::string& allocator = "");

/// Targets of commands to compare: if one command takes no library, all are counted from outside.
std::vector<Target> targets_for(const std::vector<std::vector<std::string>>& commands, double timeout_s);

/// Runs it once under the recorder, without a terminal, at fixed addresses where that is permitted. Throws UsageError
/// if it does not end by itself in time, MachineError if what it did cannot be counted here, Stop.
CommandRun run_once(const Target& target);
/// The same, recorded in an arena of which the caller reads more.
CommandRun run_once(const Target& target, RecordArena& arena);

/// Runs it once without the recorder, as it is started otherwise. Throws as run_once, and UsageError, with `remedy`, if
/// it fails.
MeteredRun run_plain(const Target& target, const std::string& remedy);

/// Adds a setting of the command line. Throws UsageError if its variable is set already.
void add_setting(const EnvWord& word, Target& target);

/// The part of a record that is compared. Throws MachineError, with `name`, for one with holes.
CommandRun run_of(const Record& record, const std::string& name);

/// The key of a call stack, and its place.
std::pair<SiteKey, Place> key_of(const RecordedSite& site);

}  // namespace zerotax::record::runs
