#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/parser.h"

namespace CLI {

class Option;

}  // namespace CLI

namespace zerotax {

/// Makes known_values() return these for an option.
void set_known_values(const CLI::Option& option, std::function<std::vector<std::string>()> values);

/// The values that an option or a positional argument may have, as far as they can be listed.
std::vector<std::string> known_values(const CLI::Option& option);

/// Completions at a shell's cursor: `words` are those after the program's name up to the cursor, the last of them
/// unfinished or empty. Commands, options and their values that start with it; none where a file, or a program's own
/// words, are expected.
std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace zerotax
