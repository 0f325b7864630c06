#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/page.h"

namespace zerotax::record {

/// The shared memory through which recorded programs pass the allocator's calls to the driver (`record --calls`). Each
/// thread has a ring, which the driver empties while the program runs. The driver writes no addresses into the file.

inline constexpr const char* kCallsVariable = "ZEROTAX_CALLS";

/// Size in bytes from which the populated pages of a block are recorded before it is freed.
inline constexpr std::size_t kPagedBytes = std::size_t{16} << 10;

inline constexpr std::uint32_t kRingCalls = 1U << 15;   ///< calls in a ring (1 MiB); a thread populates the ring's
                                                        ///< pages only as needed
inline constexpr std::uint32_t kPieceCalls = 1U << 11;  ///< number of calls after which a thread populates further
                                                        ///< pages and wakes the driver
inline constexpr unsigned kTimeShift = 16;              ///< unit of RawCall::time: 2^16 ns
inline constexpr std::size_t kRings = 1024;             ///< maximum number of threads of all processes at one time
inline constexpr std::size_t kStreams = 16'384;

/// Kinds of calls. `kGrowing`: realloc begins, and its old block is gone. `kGrown`: realloc ended. `kTouched`: a range
/// of populated pages of a block that is about to end. `kEnd`: a thread ends. `kMapped`: the program itself maps
/// anonymous memory. `kPopulated`: a range of a mapping is populated. `kReturned`: the program returns a range of a
/// mapping and keeps the addresses. `kUnmapped`: the program unmaps a range of a mapping. `kHuge`: the program asks for
/// huge pages in a range of a mapping or of a block.
enum class RawKind : std::uint8_t {
  kMalloc,
  kCalloc,
  kAligned,
  kGrowing,
  kGrown,
  kFree,
  kTouched,
  kFork,
  kEnd,
  kMapped,
  kPopulated,
  kReturned,
  kUnmapped,
  kHuge
};

struct RawCall {
  std::uint64_t ticket;  ///< position among the calls of all threads of the process
  RawKind kind;
  std::uint8_t alignment;  ///< binary logarithm of the alignment
  std::uint8_t padding[2];
  std::uint32_t time;     ///< time since the stream began, in units of 2^16 ns; 0: not read
  std::uint64_t address;  ///< address of the block; kGrown: 0 if realloc failed
  std::uint64_t bytes;    ///< bytes requested; kTouched: first page in the block, and number of pages from bit 32 on
};

struct CallRing {
  std::atomic<std::uint32_t> stream;            ///< 1 + the index of the process's stream; set last
  std::uint32_t thread;                         ///< number of the thread in its process, from 0
  alignas(64) std::atomic<std::uint64_t> head;  ///< number of calls written so far
  alignas(64) std::atomic<std::uint64_t> tail;  ///< number of calls read so far
  alignas(kLeastPageBytes) RawCall calls[kRingCalls];
};

enum class RingState : std::uint8_t { kFree, kUsed, kEnded };

/// One process: a program from its start or exec on, or a child of fork.
struct CallStream {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> ended;
  std::int32_t pid;
  std::uint32_t parent;     ///< for a child of fork: 1 + the index of its parent's stream
  std::uint64_t forked_at;  ///< ticket of the fork in the parent; kNoTicket: unknown
  std::int64_t started_ns;  ///< CLOCK_MONOTONIC
  std::atomic<std::uint64_t> tickets;
  std::atomic<std::uint32_t> threads;
  std::atomic<std::uint64_t> lost;   ///< number of threads that found no ring
  std::uint64_t image_zeroed_bytes;  ///< ImagePages::zeroed at the end of the process
  std::uint64_t image_copied_bytes;
  std::uint32_t ended_time;  ///< as RawCall::time
};
inline constexpr std::uint64_t kNoTicket = ~std::uint64_t{0};

struct CallArea {
  std::uint64_t magic;
  std::atomic<std::uint32_t> stopped;   ///< 1: the driver takes no further calls
  std::atomic<std::uint32_t> sleeping;  ///< 1: the driver waits for `wake` to change (futex(2))
  std::atomic<std::uint32_t> wake;
  std::atomic<std::uint32_t> tick;  ///< changes every few milliseconds; after a change, threads read the clock
  std::atomic<std::uint32_t> streams_used;
  std::atomic<std::uint32_t> rings_used;
  std::atomic<RingState> ring_states[kRings];
  CallStream streams[kStreams];
};

inline constexpr std::size_t kRingsOffset = (sizeof(CallArea) + kLeastPageBytes - 1) & ~(kLeastPageBytes - 1);
inline constexpr std::size_t kCallAreaBytes = kRingsOffset + kRings * sizeof(CallRing);
inline constexpr std::uint64_t kCallAreaMagic = 0x5a43'0003'0000'0000 | sizeof(CallRing);

static_assert(sizeof(RawCall) == 32);

}  // namespace zerotax::record
