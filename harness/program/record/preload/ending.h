#pragma once

#include "record/preload/arena.h"
#include "record/preload/holdings.h"

namespace zerotax::record {

/// Has the C library's own calls of _exit (in quick_exit, daemon, a failed child of system) come to us, too.
void watch_end();

/// The end of a process that shared the memory of another, and its line in the arena; nullptr if there was no room.
struct SharerEnd {
  SharerUse use;
  ExecEntry* entry = nullptr;
};

/// Such a process is about to end, or to become another program by number.
SharerEnd end_sharer();
/// The other program could not be had, for the reason in errno.
void take_back(const SharerEnd& end);

}  // namespace zerotax::record
