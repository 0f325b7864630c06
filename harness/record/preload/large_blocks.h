#pragma once

#include <cstddef>

#include "record/preload/live_blocks.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// The call that is going on gave the program a large block, or nullptr: counts it at its site, unless that was done:
/// then `site` is that. Remembers a block of which not all is populated, or any if the live heap is counted.
void note_block(ThreadState& thread, SiteKind kind, Site* site, const void* block, std::size_t bytes);

/// The program is about to give a block back: puts down what the kernel zeroed of it while the program had it, and
/// forgets it. Returns false if it was not remembered.
bool end_block(const void* block, LiveBlock& ended);

/// The program has it after all, for realloc failed.
void restore_block(LiveBlock& ended);

/// Puts down what the kernel zeroed so far of the blocks that the program still has.
void settle_live_blocks();

}  // namespace zerotax::record
