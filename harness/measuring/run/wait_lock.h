#pragma once

#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Waits for the lock of a file, and holds it until the result is destroyed. Creates the file if necessary. Prints
/// which process holds the lock while waiting. If locks are unavailable, prints that instead of waiting. Throws
/// UsageError if the file cannot be opened, and Stop if a signal interrupts the wait.
UniqueFd wait_for_lock(const std::string& path);

/// Waits for the lock of a file's folder in the same way. The file is read, changed and replaced under this lock.
UniqueFd wait_for_folder_lock(const std::string& file);

}  // namespace zerotax
