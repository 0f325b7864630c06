#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace zerotax {

/// JSON that keeps its keys in the order of writing, so that two runs can be compared line by line.
using Json = nlohmann::ordered_json;

/// A figure that could not be measured: {"na": reason}. `reason` must not be empty.
Json not_available(const std::string& reason);

/// The string under a key, or `otherwise` if there is none or it is no string.
std::string text_field(const Json& object, const std::string& key, const std::string& otherwise);

/// Whether a figure is {"na": ...}.
bool is_not_available(const Json& figure);

}  // namespace zerotax
