#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace zerotax {

/// JSON that keeps its keys in the order of writing, so that two runs can be compared line by line.
using Json = nlohmann::ordered_json;

/// Returns JSON for a file: indented, and ended by a line break. Bytes that are not UTF-8, which file names may
/// contain, become escapes (\xff), because JSON cannot represent them. Unprintable characters (base/printable.h) become
/// JSON escapes.
std::string json_text(const Json& json);

/// Returns JSON in the form of json_text, but on one line and without a line break at its end.
std::string json_line(const Json& json);

/// Returns the JSON of a metric that could not be measured: {"na": reason}. `reason` must not be empty.
Json not_available(const std::string& reason);

/// Returns the string under a key, or `otherwise` if the key is missing or has a value of another type.
std::string text_field(const Json& object, const std::string& key, const std::string& otherwise);

/// Whether a metric is {"na": ...}.
bool is_not_available(const Json& figure);

/// The fields that all documents begin with. A result with a table of fields gets them from HEAD_FIELDS
/// (base/fields.h); other rooms list them in their document.cc.
struct DocumentHead {
  std::string schema;  ///< "zerotax.NAME/1"
  std::string zerotax_version;
  std::string started;  ///< time in the format of utc_now()
  std::vector<std::string> command;
  Json environment;
};

/// The error for text that is not JSON. The message is printed after a file's name: "is not JSON (line 3, column 7:
/// invalid literal)".
class JsonTextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses one JSON value strictly. Throws JsonTextError for text that is not JSON (NaN, a comment, an extra comma,
/// bytes that are not UTF-8), and for:
/// - a byte order mark or a NUL byte, because only this parser skips them;
/// - a duplicate key, because readers differ in which value they use;
/// - values nested deeper than 64 levels, which zerotax never writes and which would exhaust the stack;
/// - text longer than 16 KiB, which is too long for matching regular expressions.
Json parse_strict_json(std::string_view text);

}  // namespace zerotax
