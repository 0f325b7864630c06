#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json.h"

namespace zerotax {

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
