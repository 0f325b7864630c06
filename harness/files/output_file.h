#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace zerotax {

/// Writes a whole file, so that it is complete or, on any failure, unchanged (files/new_file.h, which also is for what
/// is written bit by bit). Throws UsageError naming the cause. A file that has come to the path of an output
/// (check_outputs) meanwhile, and may not be replaced, stays, and the message names the file with the text.
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
