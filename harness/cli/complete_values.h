#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace zerotax {

/// The values that an option or a positional argument may have, as far as they can be listed.
std::vector<std::string> known_values(const CLI::Option& option);

}  // namespace zerotax
