#pragma once

#include <cstddef>
#include <cstdint>

#include "os/page.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// Where a thread is: whose stores of zeros a memset's are.
enum class Inside : std::uint32_t { kProgram, kCalloc, kRealloc, kOther, kFree, kOwn };

/// The figures of the current call: its large stores of zeros, and the memory that it returned or mapped.
struct CallFigures {
  std::uint64_t zeroed_bytes;
  std::uint64_t examined_bytes;
  std::uint64_t redundant_bytes;
  std::uint64_t ns;
  std::uint64_t faults;
  std::uint64_t returned[kMechanisms];  ///< bytes that the call gave back to the kernel
  AddressRange fresh;                   ///< what it mapped last, or the heap grew by

  [[nodiscard]] std::uint64_t returned_bytes() const {
    std::uint64_t all = 0;
    for (const std::uint64_t bytes : returned) all += bytes;
    return all;
  }
};

/// A call of the allocator that is going on, or went on last.
struct Call {
  Inside inside;
  std::uint32_t size_class;  ///< of what was asked for
};

/// Small stores of zeros of which one now and then is looked at. It stands for those since the one before.
struct Samples {
  std::uint64_t bytes;            ///< of the store that was looked at; 0: no sample is to be taken
  std::int64_t until;             ///< zeroed bytes until one store is looked at
  std::int64_t began;             ///< what `until` was when the interval began
  std::int64_t every;             ///< its length on average
  std::uint64_t pending_bytes;    ///< zeroed since the last sample
  std::uint64_t redundant_bytes;  ///< of the store that was looked at
};

struct alignas(64) ThreadState {
  // Every small request reads this one line of the cache.
  ThreadBlock* armed;  ///< where to count, in the program's own code; nullptr inside a call, and before the first
  ThreadBlock* block;  ///< where to count inside a call
  Call now;
  std::uintptr_t mark;  ///< while `armed` is nullptr: an address within the stack frame of the call or the own work
  std::uintptr_t last_begin;  ///< the block that malloc or realloc gave last, until the next memset of zeros
  std::size_t last_bytes;
  std::uint32_t until_look;   ///< small blocks until one is looked at
  bool over_aligned;          ///< the block at last_begin was requested with more than malloc's alignment
  bool eventful;              ///< something was put into `call` since it was last cleared
  std::uint64_t grown_bytes;  ///< by which the allocator's memory grew in the call for a small block; 0: not looked at
  Samples small;              ///< stores of the allocator, and of the program over a block that it just got

  Samples cleared;                 ///< the program's stores over other memory
  Samples large_cleared;           ///< large ones; `until` is the time from which on the next one is looked at
  std::uint32_t large_clears;      ///< their number
  std::uint64_t random;            ///< of its sequence of random numbers; 0: not begun
  std::uint32_t small_returns;     ///< to the kernel, so far
  std::uint32_t cheap_calls;       ///< for which site_weight() was asked, so far
  std::uint32_t growths;           ///< of the allocator's memory in calls for small blocks
  std::uint32_t chosen_return;     ///< the place in the group of small returns of the one that is looked at
  std::uint64_t last_small_pages;  ///< returned by the one that was looked at last
  std::uint32_t look_every;        ///< small blocks for each that is looked at, now
  std::int64_t looked_ns;          ///< when one was looked at last
  CallFigures call;                ///< of the call that is going on, or went on last; to be read if it is eventful
  bool in_allocator;               ///< in a call that counts for the live heap
};

// initial-exec: no allocation to reach it, not even the first time; a preloaded library may have it.
extern constinit thread_local ThreadState state [[gnu::tls_model("initial-exec")]];

/// Class of a size: the place of its highest binary digit.
inline std::uint32_t class_of(std::size_t bytes) {
  return 63U - static_cast<std::uint32_t>(__builtin_clzll(bytes | 1));
}

/// A call begins of which nothing is known yet.
inline void begin_call(ThreadState& thread) {
  if (!thread.eventful) return;
  thread.call = {};
  thread.eventful = false;
}

/// The next of a thread's random numbers (xorshift, Marsaglia 2003), which begin_samples has begun.
inline std::uint64_t random_of(ThreadState& thread) {
  std::uint64_t& number = thread.random;
  number ^= number << 13;
  number ^= number >> 7;
  return number ^= number << 17;
}

/// Something is going to be put into `call`.
inline void begin_events(ThreadState& thread) {
  if (thread.eventful) return;
  thread.call = {};
  thread.eventful = true;
}

/// An address within the stack frame of the function that calls this. The frames of functions that it calls lie below.
[[gnu::always_inline]] inline std::uintptr_t frame_mark() {
  return reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()) - sizeof(void*);
}

/// Keeps errno and marks the thread as busy with the recorder's own work, so that nothing it calls is recorded.
class OwnWork {
 public:
  explicit OwnWork(std::uintptr_t mark = frame_mark());
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  ThreadBlock* armed_;
  std::uintptr_t mark_;
  Inside inside_;
  int errno_;
};

/// The same, and its time is counted as the recorder's own, unless it is part of such work already. Two system calls.
class TimedOwnWork {
 public:
  explicit TimedOwnWork(std::uintptr_t mark = frame_mark());
  ~TimedOwnWork();
  TimedOwnWork(const TimedOwnWork&) = delete;
  TimedOwnWork& operator=(const TimedOwnWork&) = delete;

 private:
  const bool outermost_;
  const OwnWork own_;
  std::int64_t began_ns_ = 0;
  std::int64_t began_cpu_ns_ = 0;
};

}  // namespace zerotax::record
