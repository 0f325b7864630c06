#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/preload/live_blocks.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Usable bytes of all live blocks of a program. The counting functions replace the allocator's functions in `real`
/// only if the live heap is counted, so that other recordings have no overhead.
class LiveHeap {
 public:
  /// Adds the bytes of a new block, and raises `peak`.
  void enter(std::uint64_t bytes, std::atomic<std::uint64_t>& peak) { raise(peak, bytes_.fetch_add(bytes) + bytes); }
  /// Subtracts the bytes of an ended block, but never below zero. The block may be older than the count, or may come
  /// from a function that is not counted.
  void leave(std::uint64_t bytes) {
    std::uint64_t known = bytes_;
    while (!bytes_.compare_exchange_weak(known, known < bytes ? 0 : known - bytes)) {
    }
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::atomic<std::uint64_t> bytes_{0};
};

/// Whether the live heap is counted in this process.
extern bool live_heap_counted;

/// Begins to count. Call this as soon as the allocator's functions are known, because libraries allocate before the
/// recorder's constructor runs.
void count_live_heap();
/// Moves the peak to the process's slot (nullptr if nothing is recorded). Stops counting if the driver does not need
/// the live heap.
void begin_live_heap(ProcessSlot* slot);
/// Gives a child of fork the live bytes of its parent.
void open_live_heap(ProcessSlot& child);

/// Adds a large block to the live bytes of its site, or subtracts the block.
void enter_site(LiveBlock& block);
void leave_site(const LiveBlock& block);

/// Call this before a large block is allocated or freed. If the peak has risen since the last call, each site keeps its
/// present live bytes as its live bytes at the peak.
void keep_peak();
/// Adds a block to the live bytes, or subtracts the block.
void enter_live(void* block);
void leave_live(void* block);

/// Calls a function of the allocator that returns a block, or nullptr, and counts the block. If that function calls
/// another function of the allocator, only the outer call counts.
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

/// Calls a function that frees a block. The block is subtracted before the call, because another thread may get it
/// immediately.
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
