#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// Whether a 64-bit ELF file ends before its program headers, or what they have loaded, do: the loader would be killed
/// by SIGBUS, and the library would look like one that crashes.
bool is_cut_short(const std::string& path);

/// Whether a word of --allocator, behind NAME=, names a package instead of a file: "deb:trixie/libmimalloc3".
bool is_debian_library(const std::string& word);

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

/// A file of the command line, and what it was given as: "--json", "the library".
struct NamedPath {
  std::string option;
  std::string path;
};

/// Throws UsageError unless every output can be written, and none is another of them, or an input: by name, by a link,
/// or because both are standard output; nor a file that it may not replace (files/output_kind.h). Those that are empty
/// were not given. Changes nothing.
void check_outputs(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs = {});

/// Throws UsageError for an output inside a folder that is to be written as a whole.
void check_outside(const std::vector<NamedPath>& outputs, const NamedPath& folder);

/// Makes a folder that check_new_folder found usable earlier. Throws UsageError if the folder cannot be made, or if
/// another command has used it since.
void make_new_folder(const NamedPath& folder);

/// Throws UsageError unless the folder can be made later, or is empty. Changes nothing.
void check_new_folder(const NamedPath& folder);

/// The libraries of --allocator words (NAME=PATH), as inputs.
std::vector<NamedPath> library_inputs(const std::vector<std::string>& allocator_words);

/// Whether two paths are one file, or would be.
bool is_same_file(const std::string& one, const std::string& other);

}  // namespace zerotax
