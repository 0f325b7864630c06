#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace zerotax {

/// Throws UsageError if the current folder, on which relative paths depend, was deleted.
void require_working_folder();

/// Throws UsageError if the path is relative and the current folder was deleted. This error explains why nothing was
/// found at the path.
void require_folder_of(const std::filesystem::path& path);

/// Returns a path as absolute. If the current folder was deleted, throws the error of require_working_folder instead of
/// std::filesystem's.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// Maximum size of an input file, larger than any file that zerotax writes. A larger file is a mistake, and would only
/// fill the memory.
inline constexpr std::size_t kMostInputBytes = std::size_t{1} << 30;

/// Whether anything has this name, even a dangling link, so that an unreadable file is not reported as missing.
bool is_there(const std::string& path);

/// Returns the contents of a regular file. Throws UsageError if the file is larger than kMostInputBytes or cannot be
/// read. Other kinds of file are refused at once, because a pipe, a device or a socket could block or never end.
std::string read_input_file(const std::string& path);

}  // namespace zerotax
