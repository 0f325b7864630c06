#pragma once

#include <string>

#include "base/json.h"

namespace zerotax {

/// Writes a whole file, so that it is complete or, on any failure, unchanged: to a temporary file beside it, then
/// renamed.
/// "-" is standard output; what is not a regular file (a pipe, /dev/null) is written in place. Throws UsageError naming
/// the cause.
void write_file(const std::string& path, const std::string& text);

/// Throws UsageError now if write_file could not succeed later; changes nothing.
void check_writable(const std::string& path);

/// Reads a JSON file. Throws UsageError if it is not a regular file, cannot be read, or is not JSON
/// (base/strict_json.h).
Json read_json_file(const std::string& path);

}  // namespace zerotax
