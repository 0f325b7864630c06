#pragma once

#include <cstddef>

#include "record/preload/live_blocks.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// The current call gave the program a large block, or nullptr. Counts the call at its site, unless `site` is given,
/// where it was counted already. Remembers a block that is not wholly populated, or any block if the live heap is
/// counted.
void note_block(ThreadState& thread, SiteKind kind, Site* site, const void* block, std::size_t bytes);

/// The program is about to give a block back: puts down what the kernel zeroed of it while the program had it, and
/// forgets it. Returns false if it was not remembered.
bool end_block(const void* block, LiveBlock& ended);

/// The program has it after all, for realloc failed.
void restore_block(LiveBlock& ended);

/// Puts down what the kernel zeroed so far of the blocks that the program still has.
void settle_live_blocks();

}  // namespace zerotax::record
