#pragma once

// Work before and after each function that replaces an allocator function. The code is inline, because the path of
// small requests must be short.

#include <cstddef>
#include <cstdint>

#include "record/preload/first_pages.h"
#include "record/preload/large_blocks.h"
#include "record/preload/live_blocks.h"
#include "record/preload/nesting.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/returns.h"
#include "record/preload/site.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Counts a call, and returns its size class.
inline std::uint32_t count_call(ThreadBlock& block, CallKind kind, std::size_t bytes) {
  const std::uint32_t size_class = class_of(bytes);
  CallRow& row = block.calls[kind][size_class];
  ++row.calls;
  row.bytes += bytes;
  return size_class;
}

/// Remembers the block that the program gets now, because the program may clear it immediately by a memset.
inline void remember(ThreadState& thread, const void* block, std::size_t bytes) {
  thread.last_begin = reinterpret_cast<std::uintptr_t>(block);
  thread.last_bytes = bytes;
  thread.over_aligned = false;
}

/// Calls the allocator. Stores during the call are the allocator's own.
template <typename Allocate>
inline void* call(ThreadState& thread, ThreadBlock* armed, Inside inside, std::uint32_t size_class, Allocate allocate) {
  thread.now = {inside, size_class};
  thread.mark = frame_mark();
  thread.armed = nullptr;
  void* block = allocate();
  thread.armed = armed;
  return block;
}

/// Calls the allocator and examines the pages that the call populated.
template <typename Allocate>
[[gnu::noinline]] void* look_at_call(ThreadState& thread, ThreadBlock* armed, Call what, SiteKind kind,
                                     std::size_t bytes, Allocate allocate) {
  const FirstPages look(thread);
  void* block = call(thread, armed, what.inside, what.size_class, allocate);
  look.note(kind, block, bytes);
  return block;
}

template <typename Allocate>
inline void* small_call(ThreadState& thread, ThreadBlock* armed, Call what, SiteKind kind, std::size_t bytes,
                        Allocate allocate) {
  void* const block = --thread.until_look == 0 ? look_at_call(thread, armed, what, kind, bytes, allocate)
                                               : call(thread, armed, what.inside, what.size_class, allocate);
  if (thread.grown_bytes != 0) [[unlikely]]
    note_growth(thread, kind);
  return block;
}

template <typename Allocate>
inline void* counted_now(ThreadState& thread, std::size_t bytes, Allocate allocate) {
  ThreadBlock* const armed = thread.armed;
  const bool large = bytes >= kLargeBytes;
  if (large) begin_call(thread);
  const std::uint32_t size_class = count_call(*armed, kMalloc, bytes);
  void* const block = large
                          ? call(thread, armed, Inside::kOther, size_class, allocate)
                          : small_call(thread, armed, {Inside::kOther, size_class}, SiteKind::kOther, bytes, allocate);
  remember(thread, block, bytes);
  if (large) note_block(thread, SiteKind::kOther, nullptr, block, bytes);
  return block;
}

/// Gets a block by `allocate`, and counts the call as malloc.
template <typename Allocate>
inline void* counted(CalledFrom from, std::size_t bytes, Allocate allocate) {
  ThreadState& thread = state;
  if (!ready(thread)) [[unlikely]] {
    return apart(
        thread, from, [=, &thread] { return counted_now(thread, bytes, allocate); }, allocate);
  }
  return counted_now(thread, bytes, allocate);
}

/// Gets an aligned block by `allocate`, and counts the call as malloc.
template <typename Allocate>
inline void* counted_aligned(CalledFrom from, std::size_t alignment, std::size_t bytes, Allocate allocate) {
  void* const block = counted(from, bytes, allocate);
  ThreadState& thread = state;
  thread.over_aligned = alignment > alignof(std::max_align_t);
  if (thread.over_aligned && thread.block != nullptr) thread.block->aligned_bytes += bytes;
  return block;
}

/// Frees a block by `release`. Stores during the free are the allocator's own.
template <typename Release>
inline void call_release(ThreadState& thread, ThreadBlock* armed, Release release) {
  ++armed->free_calls;
  thread.now = {Inside::kFree, 0};
  thread.mark = frame_mark();
  thread.armed = nullptr;
  release();
  thread.armed = armed;
}

/// Frees a block if the short path does not apply: in a thread's first call, for a block that may be in the table of
/// live blocks, or after a call that left data in ThreadState::call.
template <typename Release>
[[gnu::noinline]] void freed_with_care(ThreadState& thread, CalledFrom from, void* block, Release release) {
  if (is_early(block)) return;
  if (!ready(thread)) {
    return apart(
        thread, from, [=, &thread] { freed_with_care(thread, from, block, release); }, release);
  }
  begin_call(thread);
  LiveBlock ended;
  const bool known = may_be_live(block) && end_block(block, ended);
  call_release(thread, thread.armed, release);
  if (thread.eventful) note_return(thread, SiteKind::kFree, known ? &ended : nullptr);
}

/// Frees a block by `release`, on the short path if possible.
template <typename Release>
inline void freed(CalledFrom from, void* block, Release release) {
  if (block == nullptr) return;
  ThreadState& thread = state;
  if (!ready(thread) || thread.eventful || may_be_live(block)) [[unlikely]]
    return freed_with_care(thread, from, block, release);
  call_release(thread, thread.armed, release);
  if (thread.eventful) [[unlikely]]
    note_return(thread, SiteKind::kFree, nullptr);
}

}  // namespace zerotax::record
