#pragma once

#include <string>
#include <vector>

namespace zerotax {

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
