#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"

namespace zerotax::record {

/// Where a thread is: whose stores of zeros a memset's are.
enum class Inside : std::uint32_t { kProgram, kCalloc, kOther, kOwn };

/// The large stores of zeros inside the call that is going on.
struct StoreFigures {
  std::uint64_t zeroed_bytes;
  std::uint64_t examined_bytes;
  std::uint64_t redundant_bytes;
  std::uint64_t ns;
  std::uint64_t faults;
};

/// A call of the allocator that is going on, or went on last.
struct Call {
  Inside inside;
  std::uint32_t size_class;  ///< of what was asked for
};

struct ThreadState {
  ThreadBlock* armed;  ///< where to count, in the program's own code; nullptr inside a call, and before the first
  ThreadBlock* block;  ///< where to count inside a call
  Call now;
  std::uintptr_t last_begin;  ///< the block that malloc or realloc gave last, until the next memset of zeros
  std::size_t last_bytes;
  std::int64_t until_sample;    ///< small zeroed bytes until one store is looked at
  std::int64_t sample_every;    ///< the interval that is going on
  std::uint64_t pending_bytes;  ///< zeroed by small stores since the last sample
  std::uint64_t sampled_bytes;  ///< of the store that was looked at; 0: no sample is to be taken
  std::uint64_t sampled_redundant_bytes;
  StoreFigures call;  ///< of the large call that is going on
};

// initial-exec: no allocation to reach it, not even the first time; a preloaded library may have it.
extern constinit thread_local ThreadState state [[gnu::tls_model("initial-exec")]];

/// Class of a size: the place of its highest binary digit.
inline std::uint32_t class_of(std::size_t bytes) {
  return 63U - static_cast<std::uint32_t>(__builtin_clzll(bytes | 1));
}

/// Keeps errno and marks the thread as busy with the recorder's own work, so that nothing it calls is recorded.
class OwnWork {
 public:
  OwnWork();
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  ThreadBlock* armed_;
  Inside inside_;
  int errno_;
};

}  // namespace zerotax::record
