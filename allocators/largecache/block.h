// A large block, and what a policy has learnt about its pages.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_BLOCK_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_BLOCK_H_

#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// What the adaptive policy remembers about a block (policies/adaptive_model.h). All zero: nothing is known.
struct History {
  static constexpr std::size_t kMostSamples = 8;

  std::uint32_t pages = 0;       // of the request that the rest is about; 0: none yet
  std::uint32_t populated = 0;   // of these, populated when the block was last handed out zero
  std::uint32_t runs = 0;        // of neighbours, that the populated ones made
  std::uint32_t touched = 0;     // pages that the program populated after the last purge
  std::uint32_t generation = 0;  // pagemap.h, fork_generation, when the block was last cleared
  float purge_ticks = 0;         // that a purge of the block may take while nothing is touched; 0: not known
  float usual_ticks = 0;         // that a purge takes while something is; 0: not known
  float surprise_ticks = 0;      // that the last purge took, if that was more
  float zero_ticks = 0;          // that zeroing a page took after the last look; 0: not known
  std::uint32_t samples[kMostSamples] = {};  // pages, ascending, that were purged to see whether they come back
  std::uint16_t left = 0;                    // calls until the mode is reconsidered
  std::uint16_t until_sample = 0;            // calls until the next sample; 0: none is due
  std::uint8_t mode = 0;
  std::uint8_t sample_count = 0;
  std::uint8_t whole_backoff = 0;  // powers of two
  std::uint8_t purge_backoff = 0;
  std::uint8_t sample_backoff = 0;
  bool touched_known = false;
  bool settled = false;  // the last purge found what one call leaves, no more
  bool purged = false;   // nothing was populated when the block was last handed out
  bool unusual = false;  // the last purge did not take usual_ticks

  friend constexpr bool operator==(const History&, const History&) = default;
};

/// Who had a block last: what is likely to be populated of it.
enum class Use : std::uint32_t {
  kFilled,  // malloc or realloc: the program writes to what it asks for
  kZeroed,  // calloc: nobody knows how much of it was written to
};

/// A block, in use or freed.
///
/// Every free and every hit copies some of them, a few times each. So a copy is three aligned words of 16 bytes: with
/// padding at its end the compiler copies overlapping words, and each next copy waits until these are out of the store
/// buffer. For the same reason, change a field where a block is kept, not right before it is copied.
struct Block {
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  std::uintptr_t address = 0;
  std::size_t size = 0;        // bytes, whole pages
  History* history = nullptr;  // its own, or nullptr if there was no room for one
  std::size_t asked = 0;       // bytes that the program may use: what it asked for, or all, once it knows the size
  std::uint32_t freed_at = 0;  // milliseconds of a monotonic clock, wrapping; set where there is decay
  std::uint32_t resident = kUnknown;  // populated pages of a freed block, if they were counted
  bool madvised = false;
  bool grew = false;  // realloc had it last
  Use use = Use::kFilled;

  friend constexpr bool operator==(const Block&, const Block&) = default;
};
static_assert(sizeof(Block) % 16 == 0);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_BLOCK_H_
