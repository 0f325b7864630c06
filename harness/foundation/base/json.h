#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace zerotax {

/// JSON that keeps its keys in the order of writing, so that two runs can be compared line by line.
using Json = nlohmann::ordered_json;

/// JSON for a file: indented, with a line break at its end. Bytes that are not UTF-8, which file names may have, become
/// escapes (\xff), because JSON has no other way. Characters that are not printable (base/printable.h) become JSON
/// escapes.
std::string json_text(const Json& json);

/// The same JSON on one line, without a line break at its end.
std::string json_line(const Json& json);

/// A metric that could not be measured: {"na": reason}. `reason` must not be empty.
Json not_available(const std::string& reason);

/// The string under a key, or `otherwise` if there is none or it is not a string.
std::string text_field(const Json& object, const std::string& key, const std::string& otherwise);

/// Whether a metric is {"na": ...}.
bool is_not_available(const Json& figure);

}  // namespace zerotax
