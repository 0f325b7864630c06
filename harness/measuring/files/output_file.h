#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// Whether a 64-bit ELF file ends before its program headers, or before the data that they load. SIGBUS would kill a
/// program that loads the library, and the library would seem to crash.
bool is_cut_short(const std::string& path);

/// Whether the part of an --allocator word after NAME= names a Debian package instead of a file, as in
/// "deb:trixie/libmimalloc3".
bool is_debian_library(const std::string& word);

/// Writes a whole file. Afterwards the file is complete or, after any failure, unchanged. Throws UsageError, which
/// names the cause. If a file that may not be replaced has appeared at the path since check_outputs, that file stays.
/// The message then names the new file that contains the text. See files/new_file.h for writing in parts.
void write_file(const std::string& path, const std::string& text);

/// Throws UsageError if write_file could not succeed later. Changes nothing. Waits up to 2 s for the reader of a named
/// pipe, and keeps the pipe open until write_file.
void check_writable(const std::string& path);

/// The descriptor of this process that a path names: 1 for "-" and /dev/stdout, 3 for /dev/fd/3. The shell opened the
/// descriptor's file, so zerotax writes to this file and never replaces it.
std::optional<int> own_descriptor(const std::string& path);

/// Reads a JSON file. Throws UsageError if the file is not regular, cannot be read, or is not JSON
/// (base/json.h).
Json read_json_file(const std::string& path);

/// A file of the command line, and the option or role that it was given for, such as "--json" or "the library".
struct NamedPath {
  std::string option;
  std::string path;
};

/// Throws UsageError unless every output can be written and has a file of its own. No output may be the same file as
/// another output or an input: by name, by a link, or because both are standard output. An output may not replace a
/// file that files/output_kind.h protects. An empty path means that the option was not given. Changes no file.
void check_outputs(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs = {});

/// Throws UsageError if an output lies inside a folder that is written as a whole.
void check_outside(const std::vector<NamedPath>& outputs, const NamedPath& folder);

/// Creates a folder that check_new_folder accepted earlier. Throws UsageError if that fails, or if another command has
/// used the folder since.
void make_new_folder(const NamedPath& folder);

/// Throws UsageError unless the folder is empty, or can be created later. Changes nothing.
void check_new_folder(const NamedPath& folder);

/// The libraries in --allocator words (NAME=PATH), as inputs for check_outputs.
std::vector<NamedPath> library_inputs(const std::vector<std::string>& allocator_words);

/// Whether two paths name the same file, or would name the same file once created.
bool is_same_file(const std::string& one, const std::string& other);

}  // namespace zerotax
