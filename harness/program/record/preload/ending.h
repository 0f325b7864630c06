#pragma once

#include "record/preload/arena.h"
#include "record/preload/holdings.h"

namespace zerotax::record {

/// Redirects the C library's own calls to _exit to the recorder. The C library calls _exit in quick_exit, daemon, and a
/// failed child of system.
void watch_end();

/// The end of a process that shared the memory of another process. `entry` is the entry in the arena, or nullptr if
/// there was no room.
struct SharerEnd {
  SharerUse use;
  ExecEntry* entry = nullptr;
};

/// Call this when a process that shares another process's memory is about to end, or to make the system call execve by
/// number.
SharerEnd end_sharer();
/// Call this if the execve failed, with its error in errno.
void take_back(const SharerEnd& end);

}  // namespace zerotax::record
