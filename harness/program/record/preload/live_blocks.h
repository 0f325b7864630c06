#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"
#include "record/preload/block_table.h"
#include "record/preload/real.h"

namespace zerotax::record {

/// A large block that the program holds, and that was not wholly populated when it got it, or counts as live.
struct LiveBlock {
  std::uintptr_t begin;
  std::uint64_t bytes;            ///< asked for
  std::uint64_t populated_bytes;  ///< of it, by what came before
  std::uint64_t taken_bytes;      ///< of the pool of returned memory, which it may fill again
  Site* site;                     ///< where it was got; nullptr: unknown
  std::uint64_t live_bytes;       ///< what it is of the live heap, where that is counted
};

extern BlockTable<LiveBlock> live_blocks;

/// Maps the table of live blocks. In a child of fork: a new one, for the blocks are its parent's.
inline void open_live_blocks() { live_blocks.open(false, early_used); }

/// Whether a block may be remembered, or must not reach the allocator at all (is_early).
inline bool may_be_live(const void* block) { return live_blocks.may_have(block); }

}  // namespace zerotax::record
