#pragma once

#include <string>

#include "base/json.h"

namespace zerotax {

/// Writes a whole file so that it is there complete or, on any failure, as it was: to a neighbour first, then renamed.
/// "-" is standard output; what is no plain file (a pipe, /dev/null) is written as it is. Throws UsageError naming the
/// cause.
void write_file(const std::string& path, const std::string& text);

/// Throws UsageError now if write_file could not succeed later; changes nothing.
void check_writable(const std::string& path);

/// Reads a JSON file. Throws UsageError if it is no plain file, cannot be read, or is no JSON (base/strict_json.h).
Json read_json_file(const std::string& path);

}  // namespace zerotax
