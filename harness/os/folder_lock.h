#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Makes the file "lock" in a private folder and locks it: who finds it unlocked finds the folder of a dead process. It
/// is locked before it has that name, so that a folder that was just made is not taken for one. None, with errno, if it
/// cannot be made or locked; then the folder is never taken for a dead one's.
///
/// The lock is of flock(2), which belongs to the open file and not to the process: a child that was forked and has not
/// called exec holds it as well, for it may use the folder, and so nobody unlocks it but by closing it. exec closes it
/// (O_CLOEXEC), and so does the end of a process, however it ends.
UniqueFd lock_folder(const std::string& folder);

/// Removes a folder and all that is in it, without following links. The lock file goes last: what is left of a removal
/// that was cut short, or that had no descriptor, is removed by the next.
void remove_locked_folder(const std::string& folder);

/// Removes the folders in `parent` that processes of this user left behind when they were killed: those that hold the
/// file "lock", and whose lock is free. `is_ours` is asked about the names and permissions (of chmod) of folders.
void remove_dead_folders(const std::string& parent,
                         const std::function<bool(const std::string& name, mode_t permissions)>& is_ours);

}  // namespace zerotax
