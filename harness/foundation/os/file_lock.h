#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

enum class LockResult {
  kTaken,
  kHeld,     ///< by another process, or by another open file of this one
  kNoLocks,  ///< errno says why the file system, or how the file is open, has no such lock
};

/// Tries to take the lock of an open file (flock(2)), without waiting. The lock ends when the last descriptor of the
/// open file is closed, so a killed process leaves no lock. NFS shares these locks between hosts, for files that are
/// open for writing; a folder on NFS cannot be locked.
LockResult try_lock(int fd);

/// A description of the process that holds this file's lock, for a message: "process 4711 (zerotax run --resume o,
/// since 2026-11-20T05:10:00Z)". A process on another machine or in another container remains unknown.
std::string lock_holder(int fd);

/// Makes the file "lock" in a private folder and locks the file. An unlocked file marks the folder of a dead process.
/// The file is locked before it gets its name, so that a new folder is never taken for a dead process's. Returns no
/// descriptor, with errno, if the file cannot be made or locked; then the folder is never taken for a dead process's.
///
/// The lock is of flock(2), which belongs to the open file and not to the process. A forked child that has not called
/// exec holds the lock as well, because it may use the folder. So the lock ends only when all its descriptors are
/// closed. The descriptor is closed by exec (O_CLOEXEC), and by any end of a process.
UniqueFd lock_folder(const std::string& folder);

/// Removes a folder and its contents, without following links. The lock file goes last. If a removal is cut short, or
/// lacks a descriptor, the next one removes the rest.
void remove_locked_folder(const std::string& folder);

/// Removes the folders in `parent` that processes of this user left behind when they were killed: those that hold the
/// file "lock", and whose lock is free. `is_ours` is asked about the names and permissions (of chmod) of folders.
void remove_dead_folders(const std::string& parent,
                         const std::function<bool(const std::string& name, mode_t permissions)>& is_ours);

}  // namespace zerotax
