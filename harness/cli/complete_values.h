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

/// The built-in allocators of this build; the same with a colon, as --env starts; the cases of the probes.
std::vector<std::string> allocator_names();
std::vector<std::string> allocator_variables();
std::vector<std::string> case_names();
std::vector<std::string> thread_names();

/// The values that an option or a positional argument may have, as far as they can be listed.
std::vector<std::string> known_values(const CLI::Option& option);

}  // namespace zerotax
