#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace zerotax {

/// Throws UsageError if the current folder, where relative paths begin, was deleted.
void require_working_folder();

/// The same, if the path is relative: explains why nothing was found there.
void require_folder_of(const std::filesystem::path& path);

/// A path from the root folder on. Throws like require_working_folder, in place of std::filesystem's own error.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// More than any file that zerotax writes; what is larger is a mistake, and would only fill the memory.
inline constexpr std::size_t kMostInputBytes = std::size_t{1} << 30;

/// Whether anything has this name, even a dangling link: what cannot be read is not mistaken for what does not
/// exist.
bool is_there(const std::string& path);

/// The whole of a regular file. Throws UsageError at once for anything else (a pipe, a device or a socket would block,
/// or never end), for one that is larger than kMostInputBytes, and for one that cannot be read.
std::string read_input_file(const std::string& path);

}  // namespace zerotax
