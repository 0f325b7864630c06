#pragma once

#include <atomic>
#include <cstdint>

#include "os/page.h"
#include "record/preload/arena.h"
#include "record/preload/state.h"

#pragma once
#pragma once

namespace zerotax::record {

/// A page that the kernel clears in every child of fork, however it was forked (MADV_WIPEONFORK, Linux 4.14): the child
/// must count in a slot of its own. Nothing else may lie on it, however large a page is.
struct alignas(kMostPageBytes) Guard {
  volatile std::uint32_t alive;
  std::uint32_t lock;
  std::uint32_t in_parents_slot;  ///< 1: a child of fork that found no slot of its own
};
extern Guard guard;

/// The arena and this process's slot in it; nullptr if nothing can be recorded.
extern Arena* arena;
extern ProcessSlot* process;

/// Whether the thread may count: it has a block, this is not a new child of fork, and it is in no call of ours.
inline bool ready(const ThreadState& thread) { return thread.armed != nullptr && guard.alive != 0; }

/// Gives the thread a block to count in, in a slot of this process, or one that nobody reads. Returns whether the
/// thread may count now: false inside another call.
bool prepare(ThreadState& thread);

/// Has the kernel supply pages of the arena before they are written to: a full file system is found out here, and not
/// by a signal. Returns false if they cannot be had.
bool have_pages(const void* begin, std::size_t bytes);

/// Takes the next entry of a table in the arena whose `used` entries are all backed by pages, and backs it. Returns its
/// index, or `capacity` if no entry is left, or no page for it.
template <typename Entry>
std::uint32_t take_entry(std::atomic<std::uint32_t>& used, const Entry* table, std::uint32_t capacity) {
  std::uint32_t index = used;
  do {
    if (index >= capacity || !have_pages(&table[index], sizeof(Entry))) return capacity;
  } while (!used.compare_exchange_weak(index, index + 1));
  return index;
}

/// Whether the program that this process becomes by exec can find the arena.
bool arena_is_reachable();

/// The process ends now: its books are closed.
void note_end();

/// Whether this process shares the memory of another, whose slot it counts in (vfork, clone with CLONE_VM).
bool is_sharer();

/// Sets a bit of `gaps`.
void note_gap(Gap gap);

/// Where C++'s operators are not the allocator's own, all objects loaded so far call them directly from now on: what
/// they ask of malloc is counted there, and a detour for each would cost more than the count itself.
void leave_out_operators();

/// Makes the C library's own calls of memset and its kin, which no preloaded function comes before, ours: in its slots,
/// or, where it calls by address, in the function itself. Returns false if there are none that can be found.
bool hook_libc_stores();

}  // namespace zerotax::record
