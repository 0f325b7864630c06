#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "os/regular_file.h"

namespace zerotax {

/// The name of a C library's memory function (memset, memcpy, …) whose code begins at an address of the library's file,
/// or
/// "". A stripped library has no symbols for the variants that it picks by the CPU (IFUNC); but this program uses the
/// same file on the same CPU, and knows where its own calls go. Empty for any other file.
std::string libc_function(const FileId& file, std::uint64_t file_address);

/// All of those that are known of the file, by name, with their addresses in it.
std::map<std::string, std::uint64_t> libc_functions(const FileId& file);

}  // namespace zerotax
