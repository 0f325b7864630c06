#pragma once

#include <string>
#include <vector>

#include "cli/parser.h"

namespace zerotax {

/// Completions at a shell's cursor: `words` are those after the program's name up to the cursor, the last of them
/// unfinished or empty. Commands, options and their values that start with it; none where a file, or a program's own
/// words, are expected.
std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace zerotax
