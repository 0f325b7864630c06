// Every decision of the large cache, and nothing else: another policy is another set of these
// answers.
//
// Constants and comparisons are libmalloc-116's: src/thresholds.h; src/magazine_large.c, large_malloc and free_large.
// Nothing here locks, allocates or calls the system.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_

#include <cstddef>

namespace zerotax::largecache {

/// The only policy there is today; LARGECACHE_POLICY must say this.
inline constexpr const char* kPolicyName = "libmalloc-116";

/// LARGE_THRESHOLD_LARGEMEM, bytes: a request is large when it asks for more.
inline constexpr std::size_t kDefaultThreshold = std::size_t{127} << 10;
/// LARGE_ENTRY_CACHE_SIZE on 64-bit machines.
inline constexpr std::size_t kDefaultEntries = 16;
/// LARGE_CACHE_SIZE_ENTRY_LIMIT, bytes: 2 GiB / 16. (No total is enforced, there as here.)
inline constexpr std::size_t kDefaultEntryLimit = (std::size_t{2} << 30) / kDefaultEntries;
/// The reserve is physical memory shifted right by this: 16 GiB give 16 MiB.
inline constexpr unsigned kReserveShift = 10;

struct Policy {
  std::size_t threshold = kDefaultThreshold;     // bytes; larger requests are large
  std::size_t entries = kDefaultEntries;         // ring slots in use, 0..Ring::kMaxEntries
  std::size_t entry_limit = kDefaultEntryLimit;  // bytes; only smaller blocks meet the cache
  std::size_t reserve_limit = 0;                 // bytes that may stay cached without madvise

  [[nodiscard]] constexpr bool is_large(std::size_t size) const { return size > threshold; }

  /// May a block of `size` bytes (page-rounded) be cached, or looked for in the cache? Strictly
  /// below the limit: 116 compares with <, libmalloc-283 and later with <=.
  [[nodiscard]] constexpr bool should_cache(std::size_t size) const { return entries > 0 && size < entry_limit; }

  /// Is the best fit, of `best` bytes, good enough for a request of `size` <= `best`? Less than
  /// twice as large.
  [[nodiscard]] static constexpr bool accept(std::size_t best, std::size_t size) { return best - size < size; }

  /// Must a block of `size` bytes be madvised before it is cached, given what the ring holds dirty
  /// already?
  [[nodiscard]] constexpr bool should_madvise(std::size_t reserve_bytes, std::size_t size) const {
    return reserve_bytes + size > reserve_limit;
  }

  /// Must calloc clear a block from the cache? `madvised` tells how it was cached. 116 does not
  /// look: this unconditional yes is the bug of 2016 (large_malloc: if (cleared_requested) memset(addr, 0, size)).
  [[nodiscard]] static constexpr bool zero_on_hit(bool /*madvised*/) { return true; }
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_
