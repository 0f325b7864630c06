#pragma once

#include <cstdint>

#include "record/preload/live_blocks.h"
#include "record/preload/nesting.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// From here on, what the process gives back to the kernel is looked at before it is gone: munmap, madvise, brk, mremap
/// and mmap over memory, by whomever they are called. Returns false if the first three cannot be watched.
bool watch_returns();

[[nodiscard]] bool returns_are_watched();
/// Makes the system call munmap, madvise, brk, mremap or mmap by its number, where these are watched, and looks at the
/// returned memory.
long change_by_number(CalledFrom from, long number, const long (&with)[6]);

/// free or realloc has returned, and gave memory back to the kernel: puts that down to who called it, and to the size
/// of the block that `ended`, if it is known.
void note_return(ThreadState& thread, SiteKind kind, const LiveBlock* ended);

}  // namespace zerotax::record
