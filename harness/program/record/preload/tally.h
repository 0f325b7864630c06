#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax::record {

/// The counts that a recorded thread writes, as plain data in shared memory (arena.h).

/// Size in bytes from which every call is examined: pages, contents, clock, faults, call stack. Smaller calls are only
/// counted, with their bytes, and samples of them are examined.
inline constexpr std::size_t kLargeBytes = std::size_t{64} << 10;
/// Bytes that a thread zeroes by small stores between two examined stores. The interval begins with 256 KiB and doubles
/// with each sample, because examining a store costs as much as zeroing some hundred KiB.
inline constexpr std::int64_t kFirstSampleBytes = std::int64_t{256} << 10;
inline constexpr std::int64_t kLastSampleBytes = std::int64_t{64} << 20;

inline constexpr std::size_t kClasses = 64;  ///< class k has sizes 2^k to 2^(k+1) - 1; size 0 is in the class of size 1
inline constexpr std::size_t kThreads = 512;
inline constexpr std::size_t kSites = 2048;
inline constexpr std::size_t kFrames = 32;
inline constexpr std::size_t kModules = 512;
inline constexpr std::size_t kScriptFunctions = 512;
inline constexpr std::size_t kProcesses = 16'384;
inline constexpr std::size_t kExecs = 4096;
inline constexpr std::size_t kPathBytes = 256;
inline constexpr std::size_t kBuildIdBytes = 32;
inline constexpr std::size_t kFaultSamples = 24;

/// Kinds of calls. Aligned allocations count as malloc.
enum CallKind : std::uint32_t { kMalloc, kCalloc, kRealloc, kCallKinds };

/// The code that wrote zeros. In the allocator: inside calloc, inside another function that allocates, or inside free.
/// In the program: a memset over a new block of malloc or realloc (by hand), or over any other memory.
enum ZeroKind : std::uint32_t { kInCalloc, kInOther, kByHand, kInFree, kCleared, kZeroKinds };

/// The kind of call during which memory was returned to the kernel. With kByPurge, the allocator was outside its calls,
/// in its own thread or in a function outside malloc's family. With kByProgram, the program itself made the call.
enum ReturnCause : std::uint32_t { kByFree, kByRealloc, kByAllocation, kByPurge, kByProgram, kReturnCauses };

/// The system call that returned memory. mmap and mremap return the memory that they replace or cut off.
enum Mechanism : std::uint32_t { kMunmap, kMadvise, kBrk, kMremap, kMmap, kMechanisms };

struct CallRow {
  std::uint64_t calls;
  std::uint64_t bytes;  ///< bytes requested

  void add(const CallRow& more) {
    calls += more.calls;
    bytes += more.bytes;
  }
};

/// Stores of zeros by memset and its siblings.
struct ZeroRow {
  std::uint64_t stores;
  std::uint64_t bytes;
  std::uint64_t examined_bytes;   ///< bytes of large stores whose pages and contents were examined
  std::uint64_t redundant_bytes;  ///< the part of examined_bytes that was already zero

  void add(const ZeroRow& more) {
    stores += more.stores;
    bytes += more.bytes;
    examined_bytes += more.examined_bytes;
    redundant_bytes += more.redundant_bytes;
  }
};

/// Cost of large stores.
struct ZeroCost {
  std::uint64_t bytes;
  std::uint64_t ns;  ///< wall time inside the stores
  std::uint64_t faults;
  std::uint64_t cpu_ns;            ///< CPU time inside the stores, by the thread's clock
  std::uint64_t faultless_cpu_ns;  ///< the part of cpu_ns in stores without faults, which only store zeros

  void add(const ZeroCost& more) {
    bytes += more.bytes;
    ns += more.ns;
    faults += more.faults;
    cpu_ns += more.cpu_ns;
    faultless_cpu_ns += more.faultless_cpu_ns;
  }
};

/// Populated anonymous memory that was returned to the kernel.
struct ReturnRow {
  std::uint64_t calls;
  std::uint64_t bytes;
  std::uint64_t cpu_ns;  ///< CPU time of the system calls

  void add(const ReturnRow& more) {
    calls += more.calls;
    bytes += more.bytes;
    cpu_ns += more.cpu_ns;
  }
};

/// Small returns. One in kSmallGroup is examined, chosen at random, and stands for the whole group.
struct SmallReturns {
  std::uint64_t bytes;           ///< bytes that the examined calls returned
  std::uint64_t unlooked_bytes;  ///< bytes in the ranges of all other calls; an upper bound of the bytes that those
                                 ///< calls returned
  std::uint64_t widest_bytes;    ///< the largest range of any small return
  std::uint64_t square_pages;    ///< sum of the squared differences, in pages, between the bytes of successive examined
                                 ///< calls

  void add(const SmallReturns& more) {
    bytes += more.bytes;
    unlooked_bytes += more.unlooked_bytes;
    widest_bytes = widest_bytes > more.widest_bytes ? widest_bytes : more.widest_bytes;
    square_pages += more.square_pages;
  }
};
inline constexpr std::uint32_t kSmallGroup = 32;

/// Large blocks that were not fully populated when the program got them.
struct FilledRow {
  std::uint64_t blocks;
  std::uint64_t kernel_zeroed_bytes;  ///< bytes populated while the program had the blocks
  std::uint64_t refilled_bytes;       ///< the part of kernel_zeroed_bytes that refilled memory returned before
  std::uint64_t returned_bytes;       ///< bytes returned by the calls that freed the blocks

  void add(const FilledRow& more) {
    blocks += more.blocks;
    kernel_zeroed_bytes += more.kernel_zeroed_bytes;
    refilled_bytes += more.refilled_bytes;
    returned_bytes += more.returned_bytes;
  }
};

/// The counts of one thread, or sums over several threads.
struct Tally {
  CallRow calls[kCallKinds][kClasses];
  ZeroRow zeroed[kZeroKinds][kClasses];  ///< by the size requested from calloc, or, for stores by hand, by the size of
                                         ///< the store
  ZeroCost cost[kZeroKinds];
  std::uint64_t sampled_stores;  ///< small stores that were examined
  std::uint64_t sampled_bytes;
  std::uint64_t sampled_redundant_bytes;
  std::uint64_t unseen_calls;   ///< large callocs that returned a populated block without a memset that the recorder
                                ///< saw
  std::uint64_t unseen_bytes;   ///< populated bytes of the blocks that the unseen calls returned
  std::uint64_t own_ns;         ///< time that the recorder spent examining
  std::uint64_t own_cpu_ns;     ///< CPU time that the recorder spent examining
  std::uint64_t free_calls;     ///< calls to free, and to realloc with size 0, for a block; null pointers do not count
  std::uint64_t mapping_calls;  ///< calls to mmap, munmap, mremap, brk and madvise of the C library, by the allocator
                                ///< or the program
  ReturnRow returned[kReturnCauses][kMechanisms];
  std::uint64_t sampled_returns;  ///< the part of the returning calls that was estimated from one call in 32
  SmallReturns small_returns;
  /// Large blocks in huge pages whose contents were examined when the blocks were freed. Counts populated bytes, and
  /// bytes on pages that the program had written to (not all zero).
  std::uint64_t huge_blocks;
  std::uint64_t huge_examined_bytes;
  std::uint64_t huge_written_bytes;
  /// Populated bytes under madvise(MADV_FREE), which the kernel takes when it needs memory.
  std::uint64_t offered_bytes;
  FilledRow filled[kClasses];  ///< by the size class of the request
  /// Bytes of cost[kByHand] in blocks with more than malloc's alignment.
  std::uint64_t aligned_by_hand_bytes;
  /// Bytes requested with more than malloc's alignment.
  std::uint64_t aligned_bytes;
  /// Bytes returned to the kernel in calls to malloc_trim.
  std::uint64_t trimmed_bytes;

  void add(const Tally& more) {
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      for (std::size_t i = 0; i < kClasses; ++i) calls[kind][i].add(more.calls[kind][i]);
    }
    for (std::size_t kind = 0; kind < kZeroKinds; ++kind) {
      for (std::size_t i = 0; i < kClasses; ++i) zeroed[kind][i].add(more.zeroed[kind][i]);
      cost[kind].add(more.cost[kind]);
    }
    sampled_stores += more.sampled_stores;
    sampled_bytes += more.sampled_bytes;
    sampled_redundant_bytes += more.sampled_redundant_bytes;
    aligned_by_hand_bytes += more.aligned_by_hand_bytes;
    aligned_bytes += more.aligned_bytes;
    trimmed_bytes += more.trimmed_bytes;
    unseen_calls += more.unseen_calls;
    unseen_bytes += more.unseen_bytes;
    own_ns += more.own_ns;
    own_cpu_ns += more.own_cpu_ns;
    free_calls += more.free_calls;
    mapping_calls += more.mapping_calls;
    for (std::size_t cause = 0; cause < kReturnCauses; ++cause) {
      for (std::size_t i = 0; i < kMechanisms; ++i) returned[cause][i].add(more.returned[cause][i]);
    }
    sampled_returns += more.sampled_returns;
    small_returns.add(more.small_returns);
    huge_blocks += more.huge_blocks;
    huge_examined_bytes += more.huge_examined_bytes;
    huge_written_bytes += more.huge_written_bytes;
    offered_bytes += more.offered_bytes;
    for (std::size_t i = 0; i < kClasses; ++i) filled[i].add(more.filled[i]);
  }
};

}  // namespace zerotax::record
