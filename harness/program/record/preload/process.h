#pragma once

#include <atomic>
#include <cstdint>

#include "os/page.h"
#include "record/preload/arena.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// A page that the kernel clears in every child of fork, whichever function forked the child (MADV_WIPEONFORK, since
/// Linux 4.14). A cleared page shows that the child must open a slot. The page contains nothing else, whatever its size
/// is.
struct alignas(kMostPageBytes) Guard {
  volatile std::uint32_t alive;
  std::uint32_t lock;
  std::uint32_t in_parents_slot;  ///< 1: a child of fork that found no slot of its own
  /// Addresses of pages known to be populated, indexed by page number modulo 256. The table saves a system call.
  volatile std::uintptr_t populated[256];
};
extern Guard guard;

/// The arena, and this process's slot in the arena; nullptr if nothing can be recorded.
extern Arena* arena;
extern ProcessSlot* process;

/// Whether the thread may count. The thread needs a block, must not be in a new child of fork, and must not be inside a
/// call to the recorder.
inline bool ready(const ThreadState& thread) { return thread.armed != nullptr && guard.alive != 0; }

/// Gives the thread a block to count in: in a slot of this process, or a block that is never read. Returns whether the
/// thread may count now; false inside another call.
bool prepare(ThreadState& thread);

/// Populates pages of the arena before they are written to, so that a full file system is an error here and not a
/// signal. Returns false if the pages cannot be populated.
bool have_pages(const void* begin, std::size_t bytes);

/// Takes the next entry of a table in the arena, and populates the entry's pages. Returns the entry's index, or
/// `capacity` if no entry or no memory is left.
template <typename Entry>
std::uint32_t take_entry(std::atomic<std::uint32_t>& used, const Entry* table, std::uint32_t capacity) {
  std::uint32_t index = used;
  do {
    if (index >= capacity || !have_pages(&table[index], sizeof(Entry))) return capacity;
  } while (!used.compare_exchange_weak(index, index + 1));
  return index;
}

/// Whether the program that this process is about to exec can find the arena.
bool arena_is_reachable();

/// Closes the counts of a process that is about to end.
void note_end();

/// Whether this process shares the memory of another process, and counts in that process's slot (vfork, clone with
/// CLONE_VM).
bool is_sharer();

/// Sets a bit of `gaps`.
void note_gap(Gap gap);

/// Makes all objects loaded so far call C++'s operators directly if these operators are not the allocator's own.
/// Calling the recorder's operators first would cost more than counting. The C++ library's operators call malloc, which
/// is counted.
void leave_out_operators();

/// Replaces the C library's own calls to memset and its siblings, which a preloaded function does not replace. If the
/// library calls through slots, the slots are changed; if it calls by address, the called function is changed. Returns
/// false if no such calls can be found.
bool hook_libc_stores();

}  // namespace zerotax::record
