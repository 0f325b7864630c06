#pragma once

#include "record/preload/arena.h"
#include "record/preload/holdings.h"

namespace zerotax::record {

/// Redirects the C library's own calls of _exit to the recorder (in quick_exit, daemon, a failed child of system).
void watch_end();

/// The end of a process that shared the memory of another, and its line in the arena; nullptr if there was no room.
struct SharerEnd {
  SharerUse use;
  ExecEntry* entry = nullptr;
};

/// Call this when a process that shares another's memory is about to end, or to call execve by its number.
SharerEnd end_sharer();
/// Call this if the execve failed, with its error in errno.
void take_back(const SharerEnd& end);

}  // namespace zerotax::record
