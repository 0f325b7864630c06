#pragma once

#include <string>

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

}  // namespace zerotax
