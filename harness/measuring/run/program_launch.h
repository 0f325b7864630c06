#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "files/output_file.h"
#include "os/foreground.h"
#include "point/plan.h"

namespace zerotax {

/// Returns whether a data file (a baseline, a plan, a recording) may set an environment variable. Data files come from
/// pull requests and downloads. Data files must not select the code that a measured program runs, or the files that the
/// program writes. Settings of allocators are allowed. Other variables are allowed if their names are not known to lead
/// to code or files, and their values contain no path, blank or quote. The command line (--env) may also set other
/// variables.
bool may_set(const std::string& key, const std::string& value);

/// Prints the variables that a file sets, before they are set: "environment from FILE for NAME: KEY=VALUE". Throws
/// UsageError with `remedy` for the first variable that the file may not set.
void announce_variables(const std::string& file, const std::string& name, const std::map<std::string, std::string>& env,
                        const std::string& remedy);

/// Returns the file of a command. For a recording, returns the program that replays it. Throws UsageError if the file
/// does not exist.
std::string resolve_program(const std::string& command);

/// Registers functions that treat recordings as commands. `is` tells whether the file of a command word is a recording.
/// `open` returns the program that replays the recording under the name of its file. Returns true.
bool read_recordings_by(bool (*is)(const std::string& path), std::string (*open)(const std::string& path));

/// Returns whether a command word is a recording.
bool is_recording(const std::string& command);

/// Returns the program file of these words, so that no output may overwrite it; nothing if there are no words. Throws
/// the same errors as resolve_program().
std::vector<NamedPath> program_input(const std::vector<std::string>& words);

/// Throws UsageError if no library can be preloaded into a program file. `cannot` completes the message, as in "be
/// recorded".
void check_takes_preload(const std::string& program, const char* cannot);

/// Returns the path of one of zerotax's libraries, for preloading. Throws MachineError if the library is missing, and
/// UsageError if its path cannot be preloaded.
std::string project_library(const std::string& file);

/// Returns the allocator to run a program with, including `preload`. An empty `word` stands for the program's own
/// allocator, for which the result is nothing. Otherwise `word` is NAME or NAME=PATH, and `env` are words
/// NAME:KEY=VALUE for it. Throws UsageError, and MachineError if the library of a built-in allocator is not found.
std::optional<Allocator> resolve_program_allocator(const std::string& word, const std::vector<std::string>& env);

/// Returns a command to run in the foreground. `library`, if not empty, is preloaded first, and passes its calls to the
/// allocator. Libraries that the user preloads come after `library` and the allocator.
ForegroundCommand foreground_command(const std::string& program, const std::vector<std::string>& words,
                                     const std::string& library, const std::optional<Allocator>& allocator);

/// Runs a command to its end. Throws UsageError if the command could not be started; `subcommand` completes the remedy.
ForegroundResult run_program(const ForegroundCommand& command, const char* subcommand);

}  // namespace zerotax
