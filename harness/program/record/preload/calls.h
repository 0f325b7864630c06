#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/call_area.h"
#include "record/preload/file_pages.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Notes the calls of the allocator for `record --calls`. Functions that note stand before the allocator's in `real`,
/// where that was asked for: elsewhere it costs nothing.

/// Whether calls are noted in this process.
extern bool calls_noted;

/// Begins to, if the driver wants it; may be called again while nothing is known yet. As early as the allocator's
/// functions are known: libraries allocate before our constructor.
void begin_calls();
/// Other libraries have begun: another allocator's memory, of a library that brings one, is no block of ours.
void note_early_memory();
/// The process is not recorded after all.
void stop_calls();
/// A child of fork begins a stream of its own.
void begin_calls_in_child();
/// Before a fork, in the thread that forks.
void note_fork();
/// After it, in the parent.
void note_forked();
/// What is populated of the blocks that the process still has; and the stream ends here, unless an exec fails.
void note_held_blocks();

/// A call that returned a block. A thread inside the allocator notes nothing.
void note_allocation(RawKind kind, const void* block, std::uint64_t bytes, std::uint8_t alignment);
/// A block is about to be given back.
void note_release(const void* block);
/// Before and after realloc.
void note_growing(const void* old);
void note_grown(const void* block, std::uint64_t bytes);

/// Not inside the allocator, nor in our own work.
inline bool notes_here(const ThreadState& thread) {
  return calls_noted && !thread.in_allocator && thread.now.inside != Inside::kOwn;
}

/// The program mapped anonymous memory for itself.
void note_mapped(AddressRange range);
/// It is about to return some, by munmap, or (`kept`) but for its addresses.
void note_unmapping(AddressRange range, bool kept);
/// It asked for huge pages.
void note_huge(AddressRange range);

/// Calls a function of the allocator that returns a block of so many bytes, or nullptr.
template <typename Allocate>
inline void* allocated_noted(RawKind kind, std::uint64_t bytes, std::uint8_t alignment, Allocate allocate) {
  ThreadState& thread = state;
  if (!notes_here(thread)) return allocate();
  thread.in_allocator = true;
  void* const block = allocate();
  thread.in_allocator = false;
  if (block != nullptr) note_allocation(kind, block, bytes, alignment);
  return block;
}

/// The same for one that gives a block back: noted before another thread can get it.
template <typename Release>
inline void released_noted(const void* block, Release release) {
  ThreadState& thread = state;
  if (!notes_here(thread) || block == nullptr) return release();
  note_release(block);
  thread.in_allocator = true;
  release();
  thread.in_allocator = false;
}

/// The rings of this process's threads, and its stream (call_area.h).

/// Opens them, once; false if the driver does not want calls, or there is no room for one more process.
bool open_call_area();
/// A child of fork begins a stream of its own; false if there is no room.
bool begin_child_stream();
/// Not so in a child of vfork.
bool is_own_stream();
/// The process ends, or becomes another program.
void end_stream(ImagePages image);

/// Writes a call into the thread's ring, which it gets with its first one.
void note_call(RawKind kind, const void* block, std::uint64_t bytes, std::uint8_t alignment = 0);
/// Before a fork, in the thread that forks: the child knows by it where it began. After it, in the parent: forgets it.
void note_fork_call();
void forget_fork();

}  // namespace zerotax::record
