// A policy is one set of answers to every decision of the cache. The files in policies/ are such sets;
// LARGECACHE_POLICY chooses one. Nothing here locks or allocates.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_

#include <cstddef>
#include <cstdint>

#include "largecache/block.h"

namespace zerotax::largecache {

struct Policy;

/// The knobs (config.h): a policy's own values unless the environment has others.
struct Settings {
  const Policy* policy = nullptr;
  std::size_t threshold = 0;       // bytes; larger requests are large
  std::size_t entries = 0;         // freed blocks that are kept, 0..Ring::kMaxEntries
  std::size_t entry_limit = 0;     // bytes; longer blocks bypass the cache
  std::size_t reserve_limit = 0;   // bytes that may stay cached without MADV_FREE
  std::size_t memory_limit = 0;    // bytes that may stay cached in all
  std::size_t populate_limit = 0;  // bytes; fresh blocks up to this long are populated at once
  std::size_t decay_ms = 0;        // a block that was cached for longer is given back; 0: never
  std::size_t medium_quantum = 0;  // bytes that realloc rounds a request of the medium class to; 0: there is none
};

/// What happens to the pages of a block that goes to the cache.
enum class AtFree {
  kKeep,   // nothing
  kOffer,  // MADV_FREE: the kernel may take them when it needs memory
  kPurge,  // MADV_DONTNEED
};

/// What zeroing a block took.
struct Cleared {
  std::size_t zeroed_bytes = 0;  // that we wrote zeros over
  std::size_t purged_bytes = 0;  // that the kernel was asked to supply again
};

/// Is `size` more than half of `old_size`? libmalloc keeps such a block (src/magazine_malloc.c, szone_realloc).
constexpr bool stays_above_half(const Settings& /*settings*/, std::size_t old_size, std::size_t size) {
  return size > old_size / 2;
}
constexpr bool trims_to_half(std::size_t old_size, std::size_t size) { return size <= old_size / 2; }

struct Policy {
  const char* name;
  /// One line: what it does and whose it is.
  const char* summary;
  /// Are blocks mapped with witness pages (pages.h), so that one whose mapping the program has changed is never used
  /// again? The emulations have none, because the allocators that they emulate have none.
  bool has_witness;
  /// Is the cache also bounded by a footprint of 1.25 times the peak of what was in use?
  bool bounded_by_peak;

  /// Its own values. `physical_memory`: bytes that the process may have, 0 if unknown.
  void (*set_defaults)(Settings& settings, std::size_t physical_memory);

  /// May a block of `size` bytes (page-rounded) be cached, or looked for in the cache?
  bool (*should_cache)(const Settings& settings, std::size_t size);

  /// For a block of `size` bytes that is about to be cached, given what the cache holds dirty already.
  AtFree (*at_free)(const Settings& settings, std::size_t reserve_bytes, std::size_t size);

  /// Makes the first `size` <= block.size bytes (whole pages) of a block from the cache zero, whatever they held. No
  /// lock is held. `generation`: see History.
  Cleared (*clear)(Block& block, std::size_t size, std::uint32_t generation);

  // From here on: libmalloc's large blocks and our own; xzone differs (policies/xzone_792.cc).

  /// The size of a block is a multiple of this power of two, bytes; and of a page.
  std::size_t granule = 1;
  /// Where blocks start: at multiples of this power of two, bytes. If it is more than a page, every cached block fits
  /// an alignment up to it, and the cache is not asked for one beyond it. 1: at any page; cached blocks are compared.
  std::size_t block_alignment = 1;
  /// A request with more alignment than this, bytes, is large whatever its size.
  std::size_t most_small_alignment = SIZE_MAX;
  /// Does what realloc cuts off a block go to the cache, from the next multiple of block_alignment on, if that is large
  /// and there is an entry free? Not together with has_witness.
  bool keeps_tails = false;

  /// Does malloc get what is populated and calloc what is not, as far as the cache has both; and does a block whose
  /// pages nobody touched count as memory only by those that somebody did?
  bool sorts_by_contents = false;
  /// Does realloc move pages rather than copy them, and map room for more, which takes addresses and no memory?
  bool foresees_growth = false;
  /// Are fresh blocks of calloc populated at once where the program reads them before it writes to them (read_habit.h)?
  bool foresees_reads = false;
  /// Is the C library, whose small blocks are, kept from giving back what it will need again?
  bool keeps_small_memory = false;

  /// When realloc asks for `size` bytes that are not large: is the block of `old_size` >= `size` bytes kept unchanged?
  bool (*stays)(const Settings& settings, std::size_t old_size, std::size_t size) = stays_above_half;

  /// When it asks for `size` < `old_size` bytes (rounded) that are large: is the rest cut off?
  bool (*trims)(std::size_t old_size, std::size_t size) = trims_to_half;
};

/// The policy of this name; nullptr when there is none.
const Policy* find_policy(const char* name);

/// All policies, terminated by nullptr; the first is the default.
extern const Policy* const kPolicies[];

/// Is the best fit, of `best` bytes, good enough for a request of `size` <= `best`? Less than twice as large:
/// libmalloc's rule (src/magazine_large.c, large_malloc) and xzone's, which no policy here changes.
constexpr bool is_good_fit(std::size_t best, std::size_t size) { return best - size < size; }

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICY_H_
