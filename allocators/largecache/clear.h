// The ways to make pages zero. Each says what it did; none locks or allocates.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_CLEAR_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_CLEAR_H_

#include <cstddef>
#include <cstdint>

#include "largecache/policy.h"

namespace zerotax::largecache {

/// Writes zeros over all of it, whether it is already zero or not. A call of memset that a meter can see.
Cleared zero_all(std::uintptr_t address, std::size_t size);

/// What zero_dirty found.
struct Dirty {
  std::size_t pages = 0;  // that may have been non-zero
  std::size_t runs = 0;   // of neighbours, that these pages make
  Cleared cleared;
  std::uint64_t ticks = 0;  // (ticks.h) that zeroing them took, without finding them
};

/// Pages that zero_dirty counts if they are populated: `count` addresses in ascending order, `found` of them populated.
struct Watched {
  const std::uintptr_t* pages = nullptr;
  std::size_t count = 0;
  std::size_t found = 0;
};

/// Writes zeros over the pages that may be non-zero (pagemap.h); pages that are swapped out are mapped again, which
/// avoids reading them. False if the kernel does not report these pages, or stops reporting midway: `dirty` is then
/// meaningless, and no page may be assumed to be zero.
bool zero_dirty(std::uintptr_t address, std::size_t size, Dirty& dirty, Watched* watched = nullptr);

/// Pages of the block that may be non-zero; Block::kUnknown if the kernel does not report them.
std::uint32_t count_populated(std::uintptr_t address, std::size_t size);

/// Pages of the block that were read and never written to; Block::kUnknown as above.
std::uint32_t count_only_read(std::uintptr_t address, std::size_t size);

/// Some of the pages that are populated.
struct PopulatedPages {
  static constexpr std::uint32_t kMost = 8;
  std::uintptr_t pages[kMost] = {};  // ascending
  std::uint32_t count = 0;

  /// `wanted` <= kMost pages of the block, spread at random (by `seed`) over the `populated` pages that may be
  /// non-zero. Fewer if there are fewer. False if the kernel does not report them.
  bool choose(std::uintptr_t address, std::size_t size, std::uint32_t populated, std::uint32_t wanted,
              std::uint64_t seed);
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_CLEAR_H_
