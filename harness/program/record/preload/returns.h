#pragma once

#include <cstdint>

#include "record/preload/live_blocks.h"
#include "record/preload/nesting.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Begins to examine memory that the process is about to return to the kernel. The watched calls are munmap, madvise,
/// brk, mremap, and mmap over existing memory, whichever code makes them. Returns false if munmap, madvise and brk
/// cannot be watched.
bool watch_returns();

[[nodiscard]] bool returns_are_watched();
/// Makes the system call munmap, madvise, brk, mremap or mmap by its number, and examines the returned memory. Call
/// this only if returns_are_watched().
long change_by_number(CalledFrom from, long number, const long (&with)[6]);

/// Attributes to the call stack the bytes that free or realloc returned to the kernel. If `ended` is not null, the
/// bytes also count for that block's size.
void note_return(ThreadState& thread, SiteKind kind, const LiveBlock* ended);

}  // namespace zerotax::record
