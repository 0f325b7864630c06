#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/preload/live_blocks.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// The usable bytes of all blocks that a program has, and the most that they ever were. Where it is counted, functions
/// that count stand before the allocator's in `real`: elsewhere it costs nothing.
class LiveHeap {
 public:
  /// A block begins to live; raises `peak`.
  void enter(std::uint64_t bytes, std::atomic<std::uint64_t>& peak) { raise(peak, bytes_.fetch_add(bytes) + bytes); }
  /// A block ends. Never below zero: it may be from before the count began, or from a function that is not counted.
  void leave(std::uint64_t bytes) {
    std::uint64_t known = bytes_;
    while (!bytes_.compare_exchange_weak(known, known < bytes ? 0 : known - bytes)) {
    }
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::atomic<std::uint64_t> bytes_{0};
};

/// Whether it is counted in this process.
extern bool live_heap_counted;

/// Begins to count. As early as the allocator's functions are known: libraries allocate before our constructor.
void count_live_heap();
/// The process begins in the slot, or, with nullptr, where nothing is recorded: stops to count if the driver does not
/// want to know.
void begin_live_heap(ProcessSlot* slot);
/// A child of fork has what its parent had.
void open_live_heap(ProcessSlot& child);

/// A large block begins or ends to live: puts it down to its site.
void enter_site(LiveBlock& block);
void leave_site(const LiveBlock& block);

/// Before a large block begins or ends to live: if the peak has risen since, it was with the blocks that the sites have
/// now, and they keep that.
void keep_peak();
/// A block begins or ends to live.
void enter_live(void* block);
void leave_live(void* block);

/// Calls a function of the allocator that returns a block of so many bytes, or nullptr. An allocator may call another
/// of its functions for it: only the outer call counts.
template <typename Allocate>
inline void* allocated_live(std::size_t bytes, Allocate allocate) {
  ThreadState& thread = state;
  if (!live_heap_counted || thread.in_allocator) return allocate();
  if (bytes >= kLargeBytes) keep_peak();
  thread.in_allocator = true;
  void* const block = allocate();
  thread.in_allocator = false;
  if (block != nullptr) enter_live(block);
  return block;
}

/// The same for one that gives a block back: no longer live before another thread can get it.
template <typename Release>
inline void released_live(void* block, Release release) {
  ThreadState& thread = state;
  if (!live_heap_counted || thread.in_allocator || block == nullptr) return release();
  leave_live(block);
  thread.in_allocator = true;
  release();
  thread.in_allocator = false;
}

}  // namespace zerotax::record
