#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}  // namespace CLI

namespace zerotax {

/// Makes known_values() return these for an option.
void set_known_values(const CLI::Option& option, std::function<std::vector<std::string>()> values);

/// The values that an option or a positional argument may have, as far as they can be listed.
std::vector<std::string> known_values(const CLI::Option& option);

}  // namespace zerotax
