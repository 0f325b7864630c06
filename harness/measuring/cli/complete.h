#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/parser.h"

namespace CLI {

class Option;

}  // namespace CLI

namespace zerotax {

/// Sets the function that known_values() calls for an option.
void set_known_values(const CLI::Option& option, std::function<std::vector<std::string>()> values);

/// Returns the values that an option or a positional argument may have, as far as they can be listed.
std::vector<std::string> known_values(const CLI::Option& option);

/// Returns completions at a shell's cursor: the commands, options and values that start with the last of `words`.
/// `words` are the words after the program's name up to the cursor; the last is unfinished or empty. Returns nothing
/// where a file, or a word of the user's own program, is expected.
std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace zerotax
