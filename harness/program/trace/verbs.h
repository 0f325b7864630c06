#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"
#include "files/output_file.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// A verb of `zerotax trace` that has its own file, <verb>_command.cc.
struct TraceVerb {
  Arguments arguments;
  std::function<ExitStatus()> act;
};

TraceVerb functions_verb(Arguments& arguments);
std::vector<TraceVerb> control_verbs(Arguments& arguments);  ///< start, stop, status

// Functions shared by verbs.

/// Adds a repeatable option. `shown` names its value in the help: a name that may contain * and ?. A pattern after !
/// excludes what it matches (see unwanted_of).
void add_patterns(Arguments& verb, const std::string& option, std::vector<std::string>& to, const char* shown,
                  const std::string& description);
/// Removes from `patterns` those that begin with !, and returns these without the !.
std::vector<std::string> unwanted_of(std::vector<std::string>& patterns);

/// Adds the required argument for the folder of a trace.
void add_trace_folder(Arguments& verb, std::string& folder);
/// Returns the files of a trace, which no output may overwrite. Returns no files if the folder does not exist. Throws
/// UsageError if the folder contains no trace.
std::vector<NamedPath> trace_files(const std::string& folder);
/// Writes the events for ui.perfetto.dev. Does nothing if `path` is empty. Throws UsageError if the write fails.
void write_perfetto_file(const std::string& path, CtfTrace& trace);

}  // namespace zerotax::trace
