#pragma once

#include <string>

namespace zerotax {

enum class LockResult {
  kTaken,
  kHeld,     ///< by another process, or by another open file of this one
  kNoLocks,  ///< errno says why the file system, or how the file is open, has no such lock
};

/// Takes the lock of an open file for this process (flock(2)), without a wait. It ends with the last descriptor of the
/// open file, so a process that is killed leaves none. NFS has such locks between hosts, for files that are open for
/// writing; a folder cannot be locked there.
LockResult try_lock(int fd);

/// The process that holds the lock of this file, for a message: "process 4711 (zerotax run --resume o, since
/// 2026-11-20T05:10:00Z)". Nothing is known of a process of another machine or container.
std::string lock_holder(int fd);

}  // namespace zerotax
