#pragma once

#include <cstddef>

#include "record/preload/live_blocks.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Counts a call that returned a large block, or nullptr, to the program. The call counts at its site, unless it was
/// already counted at `site`. Remembers the block if it is not fully populated, or if the live heap is counted.
void note_block(ThreadState& thread, SiteKind kind, Site* site, const void* block, std::size_t bytes);

/// Counts the bytes that the kernel zeroed while the program had a block, and forgets the block. Call this before the
/// program frees the block. Returns false if the block was not remembered.
bool end_block(const void* block, LiveBlock& ended);

/// Remembers a block again because realloc failed.
void restore_block(LiveBlock& ended);

/// Counts the bytes that the kernel has zeroed so far in the blocks that the program still has.
void settle_live_blocks();

}  // namespace zerotax::record
