#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"
#include "record/preload/block_table.h"
#include "record/preload/real.h"

namespace zerotax::record {

/// A large block of the program that was not fully populated when the program got it, or that counts as live.
struct LiveBlock {
  std::uintptr_t begin;
  std::uint64_t bytes;            ///< requested bytes
  std::uint64_t populated_bytes;  ///< bytes of the block that are already counted as populated
  std::uint64_t taken_bytes;      ///< bytes set aside from the pool of returned memory, which the block may refill
  Site* site;                     ///< site of the allocation, or nullptr if it is unknown
  std::uint64_t live_bytes;       ///< bytes in the live heap, if that is counted
};

extern BlockTable<LiveBlock> live_blocks;

/// Maps the table of live blocks. A child of fork gets a new table, because the old blocks are its parent's.
inline void open_live_blocks() { live_blocks.open(false, early_used); }

/// Whether a block may be in the table, or must not be passed to the allocator (is_early()).
inline bool may_be_live(const void* block) { return live_blocks.may_have(block); }

}  // namespace zerotax::record
