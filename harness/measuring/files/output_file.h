#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace zerotax {

/// Writes a whole file: afterwards the file is complete or, on any failure, unchanged. Throws UsageError naming the
/// cause. A file that may not be replaced may have appeared at an output's path since check_outputs. That file stays,
/// and the message names the file with the text. files/new_file.h writes files bit by bit.
void write_file(const std::string& path, const std::string& text);

/// Throws UsageError now if write_file could not succeed later; changes nothing. A named pipe must have a reader, who
/// is waited for for 2 s, and is held open until it is written.
void check_writable(const std::string& path);

/// The descriptor of this process that a path names: 1 of "-" and of /dev/stdout, 3 of /dev/fd/3. The file behind it is
/// written on, as the shell opened it: never replaced.
std::optional<int> own_descriptor(const std::string& path);

/// Reads a JSON file. Throws UsageError if it is not a regular file, cannot be read, or is not JSON
/// (base/strict_json.h).
Json read_json_file(const std::string& path);

}  // namespace zerotax
