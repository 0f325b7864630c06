#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

enum class LockResult {
  kTaken,
  kHeld,     ///< held by another process, or by another open file of this process
  kNoLocks,  ///< the file cannot be locked; errno has the reason
};

/// Tries to lock an open file (flock(2)), without waiting. The lock ends when the last descriptor of the open file is
/// closed, so a killed process leaves no lock. NFS shares these locks between hosts, but only for files that are open
/// for writing, so a folder on NFS cannot be locked.
LockResult try_lock(int fd);

/// Returns a description of the process that holds this file's lock, for a message: "process 4711 (zerotax run --resume
/// o, since 2026-11-20T05:10:00Z)". A process on another machine or in another container remains unknown.
std::string lock_holder(int fd);

/// Makes the file "lock" in a private folder and locks it. An unlocked lock file marks the folder of a dead process.
/// The file is locked before it gets its name, so that a new folder never looks like the folder of a dead process. If
/// the file cannot be made or locked, returns an empty descriptor and sets errno. A folder without a lock file never
/// counts as the folder of a dead process.
///
/// flock(2) locks belong to the open file, not to the process. A forked child that has not called exec also holds the
/// lock, because the child may use the folder. The lock ends when all descriptors of the open file are closed, by exec
/// (O_CLOEXEC) or by the end of a process.
UniqueFd lock_folder(const std::string& folder);

/// Removes a folder and its contents, without following links. The lock file is removed last. If a removal is
/// interrupted, or no descriptor is free, the next removal removes the remaining files.
void remove_locked_folder(const std::string& folder);

/// Removes the folders in `parent` that killed processes of this user left behind. The folder of a killed process
/// contains the file "lock", which no process has locked. `is_ours` decides by a folder's name and permissions (as for
/// chmod) whether zerotax made it.
void remove_dead_folders(const std::string& parent,
                         const std::function<bool(const std::string& name, mode_t permissions)>& is_ours);

}  // namespace zerotax
