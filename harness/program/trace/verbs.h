#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"
#include "files/output_file.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// A verb of `zerotax trace` with a file of its own, <verb>_command.cc.
struct TraceVerb {
  Arguments arguments;
  std::function<ExitStatus()> act;
};

TraceVerb functions_verb(Arguments& arguments);
std::vector<TraceVerb> control_verbs(Arguments& arguments);  ///< start, stop, status

// Functions that verbs share.

/// An option whose value, `shown`, is a name that may have * and ?, and which may be given several times.
/// A pattern after ! excludes what matches it (unwanted_of).
void add_patterns(Arguments& verb, const std::string& option, std::vector<std::string>& to, const char* shown,
                  const std::string& description);
/// Removes the patterns that begin with ! from `patterns`, and returns them without the !.
std::vector<std::string> unwanted_of(std::vector<std::string>& patterns);

/// A required argument: the folder of a trace.
void add_trace_folder(Arguments& verb, std::string& folder);
/// The files of a trace, which no output may overwrite; none if there is no such folder. Throws UsageError if there is
/// nothing of a trace in it.
std::vector<NamedPath> trace_files(const std::string& folder);
/// Writes the events for ui.perfetto.dev; nothing if `path` is empty. Throws UsageError if that fails.
void write_perfetto_file(const std::string& path, CtfTrace& trace);

}  // namespace zerotax::trace
