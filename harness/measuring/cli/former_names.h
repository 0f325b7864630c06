#pragma once

#include <string>
#include <vector>

#include "cli/parser.h"

namespace zerotax {

/// Makes check_no_former_name() refuse `former`, "--calls" of an earlier version, with the name that it has now,
/// "--ops".
void add_former_name(const CLI::App& command, const std::string& former, const std::string& now);

/// Throws UsageError for the former name of a command, with what it is called now.
void check_no_former_command(const std::string& word);

/// Throws UsageError if the words of a command line, of which the first is a command (and the second a verb of it),
/// have a former name of an option. "--former=value", too.
void check_no_former_name(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace zerotax
