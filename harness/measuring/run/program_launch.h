#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "files/output_file.h"
#include "os/foreground.h"
#include "point/plan.h"

namespace zerotax {

/// Whether a data file (a baseline, a plan, a recording) may set an environment variable. Such files come from pull
/// requests and downloads, and must not choose the code that a measured program runs, nor the files that it writes.
/// Settings of allocators may be set. Other variables may be set if their names are not known to lead to code or files,
/// and their values hold no path, blank or quote. The command line (--env) may set more.
bool may_set(const std::string& key, const std::string& value);

/// Prints the variables that a file sets, before they have any effect: "environment from FILE for NAME: KEY=VALUE".
/// Throws UsageError with this remedy for the first variable that the file may not set.
void announce_variables(const std::string& file, const std::string& name, const std::map<std::string, std::string>& env,
                        const std::string& remedy);

/// The file of a command; of a recording, the program that replays it. Throws UsageError if there is none.
std::string resolve_program(const std::string& command);

/// Makes recordings commands: `is` says whether the file of a command word is one, and `open` returns the program that
/// replays it, which is called as that file. Returns true.
bool read_recordings_by(bool (*is)(const std::string& path), std::string (*open)(const std::string& path));

/// Whether a command word is a recording.
bool is_recording(const std::string& command);

/// The program of these words as an input that no output may overwrite; none if there are no words. Throws as
/// resolve_program.
std::vector<NamedPath> program_input(const std::vector<std::string>& words);

/// Throws UsageError if no library can be preloaded into a program file; `cannot` says what then cannot be done with
/// it, as in "be recorded".
void check_takes_preload(const std::string& program, const char* cannot);

/// The path of a library of ours, to preload. Throws MachineError if it is missing, UsageError if its path cannot be
/// preloaded.
std::string project_library(const std::string& file);

/// The allocator that a program is to run with, `preload` set; nothing if `word` is empty, for its own. `word` is NAME
/// or NAME=PATH, `env` are words NAME:KEY=VALUE for it. Throws UsageError; MachineError if a built-in one's library is
/// not found.
std::optional<Allocator> resolve_program_allocator(const std::string& word, const std::vector<std::string>& env);

/// A command to run in the foreground: `library` (if not empty) is preloaded first, and passes its calls on to the
/// allocator; libraries that the user preloads come after both.
ForegroundCommand foreground_command(const std::string& program, const std::vector<std::string>& words,
                                     const std::string& library, const std::optional<Allocator>& allocator);

/// Runs it to its end. Throws UsageError if it could not be started; `subcommand` names what to leave out in the
/// remedy.
ForegroundResult run_program(const ForegroundCommand& command, const char* subcommand);

}  // namespace zerotax
