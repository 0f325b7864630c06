#pragma once

#include <cstddef>
#include <cstdint>

#include "os/page.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// The kind of function that a thread is in. The thread's stores of zeros are attributed to that kind.
enum class Inside : std::uint32_t { kProgram, kCalloc, kRealloc, kOther, kFree, kOwn };

/// Metrics of the current call: its large stores of zeros, and the memory that it returned or mapped.
struct CallFigures {
  std::uint64_t zeroed_bytes;
  std::uint64_t examined_bytes;
  std::uint64_t redundant_bytes;
  std::uint64_t ns;
  std::uint64_t faults;
  std::uint64_t returned[kMechanisms];  ///< bytes that the call returned to the kernel
  AddressRange fresh;                   ///< memory that the call mapped last, or by which the heap grew

  [[nodiscard]] std::uint64_t returned_bytes() const {
    std::uint64_t all = 0;
    for (const std::uint64_t bytes : returned) all += bytes;
    return all;
  }
};

/// The present or last call to the allocator.
struct Call {
  Inside inside;
  std::uint32_t size_class;  ///< class of the requested size
};

/// A sample of small stores of zeros. The examined store stands for all stores since the previous examined store.
struct Samples {
  std::uint64_t bytes;            ///< bytes of the examined store; 0: no sample is pending
  std::int64_t until;             ///< bytes to zero until the next store is examined
  std::int64_t began;             ///< value of `until` when the interval began
  std::int64_t every;             ///< average length of the interval
  std::uint64_t pending_bytes;    ///< bytes zeroed since the last sample
  std::uint64_t redundant_bytes;  ///< redundant bytes of the examined store
};

struct alignas(64) ThreadState {
  // A small request reads only the first cache line of this struct.
  ThreadBlock* armed;  ///< block for counts while the thread is in the program's own code; nullptr inside a call, and
                       ///< before the first call
  ThreadBlock* block;  ///< block for counts inside a call
  Call now;
  std::uintptr_t mark;  ///< while `armed` is nullptr: an address within the stack frame of the current call or of the
                        ///< recorder's own work
  std::uintptr_t last_begin;  ///< the last block from malloc or realloc, until the next memset of zeros
  std::size_t last_bytes;
  std::uint32_t until_look;   ///< number of small blocks until the next one is examined
  bool over_aligned;          ///< whether the block at last_begin was requested with more than malloc's alignment
  bool eventful;              ///< whether `call` contains data of the call
  std::uint64_t grown_bytes;  ///< bytes by which the allocator's memory grew in a call for a small block; 0: the call
                              ///< is not sampled
  Samples small;              ///< stores of the allocator, and of the program over a new block

  Samples cleared;                 ///< the program's stores over other memory
  Samples large_cleared;           ///< large stores of the program over other memory; `until` is the time from which
                                   ///< the next one is examined
  std::uint32_t large_clears;      ///< number of examined stores in large_cleared
  std::uint64_t random;            ///< state of the random number generator; 0: not begun
  std::uint32_t small_returns;     ///< number of small returns to the kernel so far
  std::uint32_t cheap_calls;       ///< number of calls to site_weight() so far
  std::uint32_t growths;           ///< number of calls for small blocks in which the allocator's memory grew
  std::uint32_t chosen_return;     ///< index of the examined return in the present group of small returns
  std::uint64_t last_small_pages;  ///< pages returned by the last examined small return
  std::uint32_t look_every;        ///< present number of small blocks per examined block
  std::int64_t looked_ns;          ///< time when the last small block was examined
  CallFigures call;                ///< data of the present or last call, if `eventful`
  CallFigures* trim;  ///< the memory that the thread's call to malloc_trim returned so far; nullptr outside
                      ///< such a call
  bool in_allocator;  ///< whether the thread is in a call that counts for the live heap
};

// With the TLS model initial-exec, no access allocates memory, not even the first. A preloaded library may use this
// model.
extern constinit thread_local ThreadState state [[gnu::tls_model("initial-exec")]];

/// Returns the class of a size: the position of its highest binary digit.
inline std::uint32_t class_of(std::size_t bytes) {
  return 63U - static_cast<std::uint32_t>(__builtin_clzll(bytes | 1));
}

/// Clears the data of the last call when a call begins.
inline void begin_call(ThreadState& thread) {
  if (!thread.eventful) return;
  thread.call = {};
  thread.eventful = false;
}

/// Returns the thread's next random number (xorshift, Marsaglia 2003). begin_samples() has set the first number.
inline std::uint64_t random_of(ThreadState& thread) {
  std::uint64_t& number = thread.random;
  number ^= number << 13;
  number ^= number >> 7;
  return number ^= number << 17;
}

/// Prepares `call` to receive data.
inline void begin_events(ThreadState& thread) {
  if (thread.eventful) return;
  thread.call = {};
  thread.eventful = true;
}

/// Returns an address within the stack frame of the calling function. The frames of functions that it calls lie below
/// this address.
[[gnu::always_inline]] inline std::uintptr_t frame_mark() {
  return reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()) - sizeof(void*);
}

/// Keeps errno and marks the thread as busy with the recorder's own work, so that no call made during the work is
/// recorded.
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

/// Like OwnWork, but also counts the time as the recorder's own, except inside another TimedOwnWork. Takes two system
/// calls.
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
