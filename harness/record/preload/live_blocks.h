#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"

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

/// Maps the table of live blocks: memory that is not part of the program's anonymous memory. In a child of fork: a new
/// one, for the blocks are its parent's. Without memory for it, nothing is remembered.
void open_live_blocks();

/// How many of them may be at an address, by a hash of it: the one question that every free asks, for there are a few
/// in every C++ program. 255: it is no longer known.
inline constexpr std::size_t kFilters = 1024;
extern std::atomic<std::uint8_t> live_filter[kFilters];

inline std::atomic<std::uint8_t>& live_filter_of(const void* block) {
  constexpr unsigned kShift = 64 - 10;  // 2^10 is kFilters
  return live_filter[((reinterpret_cast<std::uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15) >> kShift];
}

/// Whether a block may be remembered, or must not reach the allocator at all (is_early).
inline bool may_be_live(const void* block) { return live_filter_of(block).load(std::memory_order_relaxed) != 0; }

/// Remembers a block; returns false if there is no room.
bool remember_block(const LiveBlock& block);

/// Forgets a block and says what it was; false if it is not remembered.
bool take_block(const void* block, LiveBlock& found);

/// Calls visit(context, block) for each; what it changes is kept.
void for_each_live_block(void (*visit)(void* context, LiveBlock& block), void* context);

}  // namespace zerotax::record
