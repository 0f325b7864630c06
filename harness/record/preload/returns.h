#pragma once

#include <cstdint>

#include "record/preload/live_blocks.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// From here on, what the process gives back to the kernel is looked at before it is gone: munmap, madvise, brk, mremap
/// and mmap over memory, by whomever they are called. Returns false if the first three cannot be watched.
bool watch_returns();

[[nodiscard]] bool returns_are_watched();
/// munmap or madvise as a system call by its number, where these are watched: does it, and looks at what is returned.
long return_by_number(const void* caller, long number, long begin, long bytes, long advice);

/// The program got a large block by the call that is going on: remembers it, if not all of it is populated. `site`:
/// where it was got, or nullptr if that has not been found out.
void note_block(ThreadState& thread, SiteKind kind, Site* site, const void* block, std::size_t bytes);

/// The program is about to give a block back: puts down what the kernel zeroed of it while the program had it, and
/// forgets it. Returns false if it was not remembered.
bool end_block(const void* block, LiveBlock& ended);

/// free or realloc has returned, and gave memory back to the kernel: puts that down to who called it, and to the size
/// of the block that `ended`, if it is known.
void note_return(ThreadState& thread, SiteKind kind, const LiveBlock* ended);

/// Puts down what the kernel zeroed so far of the blocks that the program still has.
void settle_live_blocks();

}  // namespace zerotax::record
