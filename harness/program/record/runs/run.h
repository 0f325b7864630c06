#pragma once

#include <string>

#include "record/launch.h"
#include "record/runs/result.h"
#include "run/allocators.h"
#include "run/metered_run.h"

namespace zerotax::record::runs {

/// A checked command to run.
struct Target : Command {
  RecordTarget recorded;
  double timeout_s = 60;
  std::string allocator;  ///< allocator to run under, as in the command line; empty: the program's own
  std::string folder;     ///< working folder; empty: the current one
  std::string output;     ///< file that receives the command's output; empty: none
  std::string preload;    ///< library to preload in addition to the recorder; empty: none
  bool resident = false;  ///< whether to measure the metrics of Family::kOfResident, too
  std::string outside;    ///< why only the kernel counts the command, as in "is statically linked"; empty if it is
                          ///< recorded
};

/// Finds the program of a command, and the allocator to run it under (empty: the program's own). Throws UsageError if
/// the command cannot be recorded.
Target target_for(const std::vector<std::string>& words, const std::string& name, double timeout_s,
                  const std::string& allocator = "");

/// Returns the targets of commands to compare. If one command cannot load the library, only the kernel counts the
/// commands, for all of them.
std::vector<Target> targets_for(const std::vector<std::vector<std::string>>& commands, double timeout_s);

/// Runs the command once under the recorder, without a terminal, and at fixed addresses if the system permits that.
/// Throws UsageError if the command does not end by itself in time, MachineError if it cannot be counted on this
/// machine, and Stop if the user stops zerotax.
CommandRun run_once(const Target& target);
/// Runs the command once. The caller can read further data from the arena.
CommandRun run_once(const Target& target, RecordArena& arena);

/// Runs the command once without the recorder and at the usual addresses. Throws like run_once(), and UsageError with
/// `remedy` if the command fails.
MeteredRun run_plain(const Target& target, const std::string& remedy);

/// Adds a setting of the command line. Throws UsageError if the setting's variable is already set.
void add_setting(const EnvWord& word, Target& target);

/// Returns the part of a record that is compared. If the record has gaps, throws MachineError with `name` in its
/// message.
CommandRun run_of(const Record& record, const std::string& name);

/// Returns the key of a call stack, and the stack's place.
std::pair<SiteKey, Place> key_of(const RecordedSite& site);

}  // namespace zerotax::record::runs
