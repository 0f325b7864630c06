#pragma once

#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Waits for the lock of a file, and holds the lock until the result ends. Makes the file if it is missing. Prints the
/// holder that it waits for. If locks are unavailable, it prints that, and does not wait. Throws UsageError if the file
/// cannot be opened, and Stop if a signal interrupts the wait.
UniqueFd wait_for_lock(const std::string& path);

/// The same for the folder of a file, which is read, changed and replaced under this lock.
UniqueFd wait_for_folder_lock(const std::string& file);

}  // namespace zerotax
