#pragma once

#include <string>
#include <vector>

#include "cli/parser.h"

namespace zerotax {

/// What may stand where a shell's cursor is: `words` are those behind the program's name up to the cursor, the last of
/// them unfinished or empty. Commands, options and their values that begin as it does; none where a file, or a
/// program's own words, are expected.
std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace zerotax
