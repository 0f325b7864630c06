#pragma once

#include <filesystem>

namespace zerotax {

/// Throws UsageError if the current folder, where relative paths begin, was deleted.
void require_working_folder();

/// The same, if the path is relative: explains why nothing was found there.
void require_folder_of(const std::filesystem::path& path);

/// A path from the root folder on. Throws like require_working_folder, in place of std::filesystem's own error.
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace zerotax
