#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json.h"

namespace zerotax {

/// Text that is no JSON, in words that follow a file's name: "is not JSON (line 3, column 7: invalid literal)".
class JsonTextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses one JSON value as strictly as any other reader would. Refused are, besides what JSON has not (NaN, a comment,
/// a comma too many, bytes that are no UTF-8): a byte order mark and a NUL byte, which this parser alone would pass
/// over; a key that is there twice, for readers differ in which they take; values nested deeper than 64, which zerotax
/// never writes and recursion could not end; text longer than 16 KiB, which a regular expression could not match.
/// Throws JsonTextError.
Json parse_strict_json(std::string_view text);

}  // namespace zerotax
