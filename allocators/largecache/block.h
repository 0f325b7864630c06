// A large block, and the history of its pages.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_BLOCK_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_BLOCK_H_

#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// The adaptive policy's knowledge about a block (adaptive/adaptive_model.h). All zero if nothing is known.
struct History {
  static constexpr std::size_t kMostSamples = 8;

  std::uint32_t pages = 0;                   // length of the request that the other fields describe, in pages; 0: no
                                             // request yet
  std::uint32_t populated = 0;               // number of pages that were populated when the block was last returned as
                                             // zero
  std::uint32_t runs = 0;                    // number of runs that the populated pages form
  std::uint32_t touched = 0;                 // number of pages that the program populated after the last purge
  std::uint32_t generation = 0;              // fork_generation() (pagemap.h) when the block was last cleared
  float purge_ticks = 0;                     // longest known time of a purge while nothing is touched; 0: unknown
  float usual_ticks = 0;                     // usual time of a purge while pages are touched; 0: unknown
  float surprise_ticks = 0;                  // time of the last purge, if it was longer than usual
  float zero_ticks = 0;                      // time to zero one page, from the last look; 0: unknown
  std::uint32_t samples[kMostSamples] = {};  // indices of pages that were purged as samples, ascending
  std::uint16_t left = 0;                    // number of calls after which the mode is reconsidered
  std::uint16_t until_sample = 0;            // number of calls until the next sample; 0: no sample is planned
  std::uint8_t mode = 0;
  std::uint8_t sample_count = 0;
  std::uint8_t whole_backoff = 0;  // a backoff of n means a factor of 2^n
  std::uint8_t purge_backoff = 0;
  std::uint8_t sample_backoff = 0;
  bool touched_known = false;
  bool settled = false;  // whether the last purge found only pages touched in one call
  bool purged = false;   // whether no page was populated when the block was last returned
  bool unusual = false;  // whether the time of the last purge was far from usual_ticks

  friend constexpr bool operator==(const History&, const History&) = default;
};

/// The last use of a block. The use suggests how much of the block is populated.
enum class Use : std::uint32_t {
  kFilled,  // malloc or realloc: the program writes to the block
  kZeroed,  // calloc: the program writes to an unknown part
};

/// A block, in use or freed. Every free and every hit copies some blocks several times, so a block is three aligned
/// words of 16 bytes. With padding at its end, the compiler would copy overlapping words, and each copy would wait for
/// the store buffer. For the same reason, change a field of the stored block, not of a copy right before storing it.
struct Block {
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  std::uintptr_t address = 0;
  std::size_t size = 0;        // bytes; whole pages
  History* history = nullptr;  // the block's own history, or nullptr if there was no memory for one
  std::size_t asked = 0;       // bytes that the program may use: the requested size, or the whole size once the program
                               // has asked for the usable size
  std::uint32_t freed_at = 0;  // time in milliseconds (monotonic, wrapping); only set if there is decay
  std::uint32_t resident = kUnknown;  // number of populated pages of a freed block, if they were counted
  bool madvised = false;
  bool grew = false;  // whether realloc last returned the block
  Use use = Use::kFilled;

  friend constexpr bool operator==(const Block&, const Block&) = default;
};
static_assert(sizeof(Block) % 16 == 0);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_BLOCK_H_
