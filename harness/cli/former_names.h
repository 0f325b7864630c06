#pragma once

#include <string>
#include <vector>

#include "cli/parser.h"

namespace zerotax {

/// Makes words_now() write `now` where a command line has `former`: "--calls", of an earlier version, for "--ops".
void add_former_name(const CLI::App& command, const std::string& former, const std::string& now);

/// The words of a command line, of which the first is a command (and the second a verb of it), with the names that its
/// options have now. "--former=value", too.
std::vector<std::string> words_now(const CLI::App& app, std::vector<std::string> words);

}  // namespace zerotax
