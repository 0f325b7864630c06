#pragma once

#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Waits until no other command holds the lock of this file, and holds it until the end of the
/// result. A file is made if it is missing. Says for whom it waits. Where there are no locks it says so, and does not
/// wait. Throws UsageError if it cannot be opened, Stop if the user stops the wait.
UniqueFd wait_for_lock(const std::string& path);

/// The same of the folder of a file, which is read, changed and replaced meanwhile.
UniqueFd wait_for_folder_lock(const std::string& file);

}  // namespace zerotax
