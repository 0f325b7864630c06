#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/page.h"

namespace zerotax::record {

/// How calls of the allocator come from recorded programs to the driver, for `record --calls`: a ring in shared memory
/// for each thread, which the driver empties while the program runs. Addresses cross here, and go no further.

inline constexpr const char* kCallsVariable = "ZEROTAX_CALLS";

/// From this size on, what of a block is populated is looked at before it is given back.
inline constexpr std::size_t kPagedBytes = std::size_t{16} << 10;

inline constexpr std::uint32_t kRingCalls = 1U << 15;   ///< in a ring: 1 MiB, of which a thread takes what it needs
inline constexpr std::uint32_t kPieceCalls = 1U << 11;  ///< pages are taken, and the driver is woken, once for so many
inline constexpr unsigned kTimeShift = 16;              ///< of RawCall::time
inline constexpr std::size_t kRings = 1024;             ///< threads at once, of all processes
inline constexpr std::size_t kStreams = 16'384;

/// kGrowing: realloc begins, and its old block is no longer there; kGrown: it ended. kTouched: one range of populated
/// pages of a block that is about to end; kEnd: of a thread. Of anonymous memory that the program maps for itself:
/// kMapped; kPopulated: a range of it that is populated; kReturned: it returns a range of it and keeps the addresses;
/// kUnmapped; of this, or of a block: kHuge, a range that it asked huge pages for.
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
  std::uint64_t ticket;  ///< its place among the calls of all threads of the process
  RawKind kind;
  std::uint8_t alignment;  ///< its binary logarithm
  std::uint8_t padding[2];
  std::uint32_t time;     ///< since the stream began, in units of 2^16 ns; 0: not read
  std::uint64_t address;  ///< of the block; kGrown: 0 if realloc failed
  std::uint64_t bytes;    ///< asked for; kTouched: the first page in the block, and their number from bit 32 on
};

struct CallRing {
  std::atomic<std::uint32_t> stream;            ///< 1 + that of the process, once all else is there
  std::uint32_t thread;                         ///< its number in its process, from 0
  alignas(64) std::atomic<std::uint64_t> head;  ///< calls ever written
  alignas(64) std::atomic<std::uint64_t> tail;  ///< calls ever read
  alignas(kLeastPageBytes) RawCall calls[kRingCalls];
};

enum class RingState : std::uint8_t { kFree, kUsed, kEnded };

/// One process: a program from its start or exec on, or a child of fork.
struct CallStream {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> ended;
  std::int32_t pid;
  std::uint32_t parent;     ///< of a child of fork: 1 + the stream of its parent
  std::uint64_t forked_at;  ///< the ticket of the fork in the parent; kNoTicket: unknown
  std::int64_t started_ns;  ///< CLOCK_MONOTONIC
  std::atomic<std::uint64_t> tickets;
  std::atomic<std::uint32_t> threads;
  std::atomic<std::uint64_t> lost;   ///< threads that found no ring
  std::uint64_t image_zeroed_bytes;  ///< ImagePages, at its end
  std::uint64_t image_copied_bytes;
};
inline constexpr std::uint64_t kNoTicket = ~std::uint64_t{0};

struct CallArea {
  std::uint64_t magic;
  std::atomic<std::uint32_t> stopped;   ///< 1: the driver takes no more
  std::atomic<std::uint32_t> sleeping;  ///< 1: the driver waits for `wake` to change (futex(2))
  std::atomic<std::uint32_t> wake;
  std::atomic<std::uint32_t> tick;  ///< changes each few milliseconds: threads then read the clock
  std::atomic<std::uint32_t> streams_used;
  std::atomic<std::uint32_t> rings_used;
  std::atomic<RingState> ring_states[kRings];
  CallStream streams[kStreams];
};

inline constexpr std::size_t kRingsOffset = (sizeof(CallArea) + kLeastPageBytes - 1) & ~(kLeastPageBytes - 1);
inline constexpr std::size_t kCallAreaBytes = kRingsOffset + kRings * sizeof(CallRing);
inline constexpr std::uint64_t kCallAreaMagic = 0x5a43'0002'0000'0000 | sizeof(CallRing);

static_assert(sizeof(RawCall) == 32);

}  // namespace zerotax::record
