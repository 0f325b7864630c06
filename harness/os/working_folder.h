#pragma once

#include <filesystem>

namespace zerotax {

/// Throws UsageError if the folder that relative paths begin in was deleted.
void require_working_folder();

/// The same, if the path is relative: why nothing was found there.
void require_folder_of(const std::filesystem::path& path);

/// A path from the root on. Throws as require_working_folder, where std::filesystem has a message of its own.
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace zerotax
