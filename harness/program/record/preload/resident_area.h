#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"

namespace zerotax::record {

/// The part of the arena's file in which a process keeps its live blocks, and the sites of blocks on each page, for
/// `record --resident`. Each slot has such an area behind the slots. The driver reads the area with pread(2), so that
/// the holes in it take no memory, and does not trust its contents.

/// Set to "1" in programs that keep the area, so that blocks are remembered from the first call on.
inline constexpr const char* kResidentVariable = "ZEROTAX_RESIDENT";

struct ResidentBlock {
  std::uintptr_t begin;
  std::uint64_t bytes;  ///< usable bytes
  std::uint32_t site;   ///< 1 + index of the site; 0: unknown

  [[nodiscard]] std::uintptr_t end() const { return begin + bytes; }
};
/// Number of levels in the table of live blocks, which then has room for 8 million blocks.
inline constexpr std::size_t kResidentLevels = 14;

/// A call stack that allocates blocks of any size. Frames are as in Site::frames.
struct BlockSite {
  std::atomic<std::uint64_t> key;  ///< 0: not ready
  std::uint64_t depth;
  std::uint64_t frames[kFrames];
};
inline constexpr std::uint32_t kBlockSites = 16'000;

/// A call stack that was found before, for calls that look the same. `frame` is the address of the called function's
/// frame (ThreadState::mark).
struct KnownStack {
  std::atomic<std::uint32_t> taken;
  std::uint32_t site;
  std::uint32_t epoch;
  std::uint32_t depth;
  std::uint64_t frame;
  std::uint64_t places[kFrames];
  std::uint64_t values[kFrames];
};
inline constexpr std::size_t kKnownWays = 4;
inline constexpr std::size_t kKnownSets = 1024;

/// The owner of a page. A page on which a block has ever begun or continued has the mark kFirstSite + ResidentBlock's
/// site, of the block that came last.
/// kUnmapping: a page of the allocator that was unmapped, or is about to be unmapped.
enum PageMark : std::uint16_t { kUnmarked, kNotMapped, kUnmapping, kOfProgram, kOfStack, kOfAllocator, kFirstSite };

/// A leaf has the marks of 8,192 pages. A mark of 0 means the leaf's common mark.
inline constexpr std::size_t kLeafPages = 8192;
inline constexpr std::size_t kLeaves = 16'384;
inline constexpr std::size_t kLeafProbes = 64;
struct Leaf {
  std::atomic<std::uint64_t> key;  ///< 1 + number of the first page / kLeafPages; 0: free
  std::atomic<std::uint16_t> common;
  std::atomic<std::uint16_t> has_marks;  ///< 0: all marks of the leaf are 0
};

/// The moment at which a process asks the driver to look at its memory.
enum class AskedMoment : std::uint32_t { kPeak, kEnd };

/// The function that the allocator's own counts come from, or the reason why there are none.
enum class CountsFrom : std::uint32_t {
  kNotAsked,
  kNoFunction,
  kWithinCall,
  kRefused,
  kGlibc,
  kJemalloc,
  kMimalloc,
  kTcmalloc
};

/// The allocator's own counts at the end of the process. AllocatorCounts in record/resident/result.h has their names.
struct AllocatorSays {
  std::atomic<CountsFrom> from;  ///< set last
  std::uint64_t bytes[4];
};

struct alignas(64) ResidentHead {
  std::atomic<std::uint64_t> changes;      ///< number of blocks that were allocated or freed
  std::atomic<std::uint64_t> lost_blocks;  ///< blocks for which the table had no room
  std::atomic<std::uint64_t> lost_marks;   ///< leaves for which there was no room
  std::atomic<std::uint64_t> lost_sites;   ///< blocks whose site is unknown for lack of room
  ResidentBlock ending;  ///< the block that the asking thread frees, which is no longer in the table; begin 0: none
  AskedMoment moment;
  std::atomic<std::uint32_t> asked;     ///< number of requests; the process waits until `answered` has this value
  std::atomic<std::uint32_t> answered;  ///< a futex
  std::atomic<std::uint32_t> copying;   ///< 1: a fork waits until its child has copied this area
  std::atomic<std::uint32_t> sites_used;
  std::atomic<std::uint32_t> ready;
  AllocatorSays says;
};

struct ResidentArea {
  alignas(kMostPageBytes) ResidentHead head;
  BlockSite sites[kBlockSites];
  std::atomic<std::uint32_t> site_index[2 * kBlockSites];  ///< hash table of 1 + index in `sites`; 0: free
  Leaf leaves[kLeaves];
  KnownStack known_stacks[kKnownSets][kKnownWays];
  alignas(kMostPageBytes) std::atomic<std::uint16_t> marks[kLeaves][kLeafPages];
  /// The table of live blocks (BlockTable::bytes()).
  std::byte blocks[(std::size_t{64} << kResidentLevels) * 8 * 32];
};
inline constexpr std::size_t kResidentBytes = sizeof(ResidentArea);
inline constexpr std::size_t kResidentOffset = kArenaBytes;
inline constexpr std::size_t kResidentFileBytes = kResidentOffset + kProcesses * kResidentBytes;

static_assert(kBlockSites + kFirstSite < 65'536);

}  // namespace zerotax::record
