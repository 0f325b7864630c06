#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/call_area.h"
#include "record/preload/file_pages.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Records the calls to the allocator for `record --calls`. The recording functions replace the allocator's functions
/// in `real` only if calls are recorded, so that other recordings have no overhead.

/// Whether calls are recorded in this process.
extern bool calls_noted;

/// Starts to record calls if the driver requests them. May be called again while allocator functions are still missing.
/// Recording starts as soon as the functions are known, because libraries allocate before the recorder's constructor
/// runs.
void begin_calls();
/// Records memory that other libraries' own allocators populated, which belongs to no recorded block. Call this after
/// the constructors of other libraries.
void note_early_memory();
/// Stops recording calls. Used if the process is not recorded after all.
void stop_calls();
/// Starts a stream in a child of fork.
void begin_calls_in_child();
/// Call this before a fork, in the thread that forks.
void note_fork();
/// Call this after a fork, in the parent.
void note_forked();
/// Records the populated pages of the blocks that the process still has, and ends the stream. The stream continues if
/// an exec fails.
void note_held_blocks();

/// Records a call that returned a block, unless the thread is inside the allocator.
void note_allocation(RawKind kind, const void* block, std::uint64_t bytes, std::uint8_t alignment);
/// Records that a block is about to be freed.
void note_release(const void* block);
/// Call note_growing() before a realloc, and note_grown() after it.
void note_growing(const void* old);
void note_grown(const void* block, std::uint64_t bytes);

/// Whether the thread is neither inside the allocator nor in the recorder's own work.
inline bool notes_here(const ThreadState& thread) {
  return calls_noted && !thread.in_allocator && thread.now.inside != Inside::kOwn;
}

/// Records that the program mapped anonymous memory itself.
void note_mapped(AddressRange range);
/// Records that the program is about to return mapped memory. With `kept`, the program keeps the addresses; otherwise,
/// it unmaps them.
void note_unmapping(AddressRange range, bool kept);
/// Records that the program asked for huge pages in a range.
void note_huge(AddressRange range);

/// Calls a function of the allocator that returns a block of `bytes` bytes, or nullptr, and records the call.
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

/// Calls a function that frees a block. The free is recorded first, because another thread may get the block
/// immediately.
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

/// Opens the area once. Returns false if the driver does not record calls, or there is no room for another process.
bool open_call_area();
/// Starts a stream in a child of fork. Returns false if there is no room for the stream.
bool begin_child_stream();
/// Whether the stream belongs to this process; false in a child of vfork.
bool is_own_stream();
/// Ends the stream when the process ends, or executes another program.
void end_stream(ImagePages image);

/// Writes a call into the thread's ring. The first call gives the thread a ring.
void note_call(RawKind kind, const void* block, std::uint64_t bytes, std::uint8_t alignment = 0);
/// Records a fork. Call note_fork_call() before the fork, in the thread that forks, so that the child knows where its
/// stream begins. After the fork, call forget_fork() in the parent.
void note_fork_call();
void forget_fork();

}  // namespace zerotax::record
