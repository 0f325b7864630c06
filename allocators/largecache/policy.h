// A policy makes every decision of the cache. Each file in policies/ defines one policy, and LARGECACHE_POLICY selects
// it. A policy neither locks nor allocates.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_

#include <cstddef>
#include <cstdint>

#include "largecache/block.h"

namespace zerotax::largecache {

struct Policy;

/// The values of the knobs (config.h). The policy sets them, and the environment may override them.
struct Settings {
  const Policy* policy = nullptr;
  std::size_t threshold = 0;       // bytes; requests above it are large
  std::size_t entries = 0;         // maximum number of cached blocks, 0..Ring::kMaxEntries
  std::size_t entry_limit = 0;     // bytes; longer blocks bypass the cache
  std::size_t reserve_limit = 0;   // bytes that may stay cached without MADV_FREE
  std::size_t memory_limit = 0;    // bytes that may stay cached in total
  std::size_t populate_limit = 0;  // bytes; fresh blocks up to this length may be populated at once
  std::size_t decay_ms = 0;        // time after which a cached block is returned; 0: never
  std::size_t medium_quantum = 0;  // bytes to which realloc rounds medium requests; 0 if there is no medium class
};

/// Treatment of the pages of a block that goes to the cache.
enum class AtFree {
  kKeep,   // nothing
  kOffer,  // MADV_FREE: the kernel may take the pages when it needs memory
  kPurge,  // MADV_DONTNEED
};

/// Bytes that were zeroed, by method.
struct Cleared {
  std::size_t zeroed_bytes = 0;  // bytes that were overwritten with zeros
  std::size_t purged_bytes = 0;  // bytes whose pages were returned, so that the kernel supplies zeros
};

/// Whether `size` is more than half of `old_size`. In that case libmalloc keeps the block (src/magazine_malloc.c,
/// szone_realloc).
constexpr bool stays_above_half(const Settings& /*settings*/, std::size_t old_size, std::size_t size) {
  return size > old_size / 2;
}
constexpr bool trims_to_half(std::size_t old_size, std::size_t size) { return size <= old_size / 2; }

struct Policy {
  const char* name;
  /// One line that describes behavior and origin.
  const char* summary;
  /// Whether blocks are mapped with witness pages (pages.h), so that a block is never reused if the program has changed
  /// its mapping. The emulations have no witness pages, because the emulated allocators have none.
  bool has_witness;
  /// Whether cache and blocks in use together are also limited to 1.25 times the peak of memory in use.
  bool bounded_by_peak;

  /// Sets the policy's own values. `physical_memory` is the number of bytes that the process may have; 0 if unknown.
  void (*set_defaults)(Settings& settings, std::size_t physical_memory);

  /// Whether a block of `size` bytes (whole pages) may be cached, and may be searched for in the cache.
  bool (*should_cache)(const Settings& settings, std::size_t size);

  /// Chooses what happens to the pages of a block of `size` bytes, given the dirty bytes that are already in the cache.
  AtFree (*at_free)(const Settings& settings, std::size_t reserve_bytes, std::size_t size);

  /// Makes the first `size` <= block.size bytes (whole pages) of a cached block zero, whatever they contain. Called
  /// without the lock. `generation`: see History.
  Cleared (*clear)(Block& block, std::size_t size, std::uint32_t generation);

  // The defaults below are those of libmalloc's large blocks and of our own policies; xzone differs
  // (policies/xzone_792.cc).

  /// The size of a block is a multiple of this power of two (in bytes), and of the page size.
  std::size_t granule = 1;
  /// Blocks start at multiples of this power of two, in bytes; 1 means at any page. If the value exceeds a page, every
  /// cached block fits alignments up to it, and requests with a larger alignment bypass the cache. Otherwise the
  /// address of each cached block is checked.
  std::size_t block_alignment = 1;
  /// Requests with a larger alignment than this, in bytes, are large whatever their size.
  std::size_t most_small_alignment = SIZE_MAX;
  /// Whether the end that realloc cuts off goes to the cache. The cached part begins at the next multiple of
  /// block_alignment, must be large, and needs a free entry. Not allowed together with has_witness.
  bool keeps_tails = false;

  /// Whether malloc gets populated blocks and calloc clean blocks, if the cache has both. If so, only the populated
  /// pages of a counted block count as memory.
  bool sorts_by_contents = false;
  /// Whether realloc moves pages instead of copying them, and maps room for growth, which takes addresses but no
  /// memory.
  bool foresees_growth = false;
  /// Whether fresh blocks of calloc are populated at once if the program reads them before it writes to them
  /// (read_habit.h).
  bool foresees_reads = false;
  /// Whether the C library, which serves small blocks, is kept from returning memory that the program will need again.
  bool keeps_small_memory = false;

  /// Whether a block of `old_size` bytes stays unchanged if realloc requests `size` <= `old_size` bytes, and `size` is
  /// not a large request.
  bool (*stays)(const Settings& settings, std::size_t old_size, std::size_t size) = stays_above_half;

  /// Whether realloc cuts off the rest of a block of `old_size` bytes. `size` < `old_size` is the rounded size of the
  /// request. Only called for large requests.
  bool (*trims)(std::size_t old_size, std::size_t size) = trims_to_half;
};

/// Returns the policy of this name, or nullptr if there is none.
const Policy* find_policy(const char* name);

/// All policies, terminated by nullptr; the first policy is the default.
extern const Policy* const kPolicies[];

/// Whether the best fit, of `best` bytes, is good enough for a request of `size` <= `best` bytes: `best` must be less
/// than twice `size`. This rule is that of libmalloc (src/magazine_large.c, large_malloc) and of xzone. All policies
/// here keep the rule.
constexpr bool is_good_fit(std::size_t best, std::size_t size) { return best - size < size; }

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_
