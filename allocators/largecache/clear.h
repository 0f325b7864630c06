// Functions that zero pages. Each function returns what was done; none locks or allocates.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_CLEAR_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_CLEAR_H_

#include <cstddef>
#include <cstdint>

#include "largecache/policy.h"

namespace zerotax::largecache {

/// Writes zeros over the whole range, whether or not it is already zero. Calls memset, so that a meter can see the
/// stores.
Cleared zero_all(std::uintptr_t address, std::size_t size);

/// The result of zero_dirty.
struct Dirty {
  std::size_t pages = 0;  // number of pages that may have been non-zero
  std::size_t runs = 0;   // number of runs that these pages form
  Cleared cleared;
  std::uint64_t ticks = 0;  // time to zero these pages, without the time to find them (ticks.h)
};

/// Pages to check: `count` ascending addresses. zero_dirty sets `found` to the number of these pages that are
/// populated.
struct Watched {
  const std::uintptr_t* pages = nullptr;
  std::size_t count = 0;
  std::size_t found = 0;
};

/// Writes zeros over the pages that may be non-zero (pagemap.h). Swapped pages are mapped again, which avoids reading
/// them in. Returns false if the kernel does not report the pages, or stops reporting midway. In that case `dirty` is
/// meaningless, and any page may be non-zero.
bool zero_dirty(std::uintptr_t address, std::size_t size, Dirty& dirty, Watched* watched = nullptr);

/// Returns the number of pages that may be non-zero; Block::kUnknown if the kernel does not report pages.
std::uint32_t count_populated(std::uintptr_t address, std::size_t size);

/// Returns the number of pages that were read and never written; Block::kUnknown if the kernel does not report pages.
std::uint32_t count_only_read(std::uintptr_t address, std::size_t size);

/// A selection of populated pages.
struct PopulatedPages {
  static constexpr std::uint32_t kMost = 8;
  std::uintptr_t pages[kMost] = {};  // addresses, ascending
  std::uint32_t count = 0;

  /// Chooses `wanted` <= kMost pages of the block, spread at random (by `seed`) over the `populated` pages that may be
  /// non-zero. Chooses fewer pages if fewer are populated. Returns false if the kernel does not report pages.
  bool choose(std::uintptr_t address, std::size_t size, std::uint32_t populated, std::uint32_t wanted,
              std::uint64_t seed);
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_CLEAR_H_
