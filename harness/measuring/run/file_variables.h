#pragma once

#include <map>
#include <string>

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

}  // namespace zerotax
