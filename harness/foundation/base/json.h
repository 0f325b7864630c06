#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

/// What the documents of rooms have in common. A result with a table of fields has them by HEAD_FIELDS
/// (base/fields.h); other rooms list them in their document.cc.
struct DocumentHead {
  std::string schema;  ///< "zerotax.NAME/1"
  std::string zerotax_version;
  std::string started;  ///< as utc_now() gives it
  std::vector<std::string> command;
  Json environment;
};

/// Text that is not JSON, in words that follow a file's name: "is not JSON (line 3, column 7: invalid literal)".
class JsonTextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses one JSON value as strictly as any other reader would. Refuses, besides what is not JSON (NaN, a comment, an
/// extra comma, bytes that are not UTF-8): a byte order mark and a NUL byte, which only this parser would skip; a
/// duplicate key, because readers differ in which one they take; values nested deeper than 64, which zerotax never
/// writes and which would exhaust the stack; text longer than 16 KiB, which a regular expression could not match.
/// Throws JsonTextError.
Json parse_strict_json(std::string_view text);

}  // namespace zerotax
