#pragma once

#include <string>

namespace zerotax {

/// Whether a 64-bit ELF file ends before its program headers, or what they have loaded, do: the loader would be killed
/// by SIGBUS, and the library would look like one that crashes.
bool is_cut_short(const std::string& path);

/// Whether a word of --allocator, behind NAME=, names a package instead of a file: "deb:trixie/libmimalloc3".
bool is_debian_library(const std::string& word);

}  // namespace zerotax
