#pragma once

#include <cstddef>
#include <cstdint>

#include "os/page.h"
#include "record/preload/resident_area.h"

namespace zerotax::record {

/// Keeps this process's live blocks of any size, and the site of the last block on each page, for `record --resident`
/// (resident_area.h). The driver divides the resident memory by them.

/// Whether the area is kept in this process.
extern bool resident_kept;

/// Keeps blocks from now on, in memory of this process, if the environment asks for it. Call this as soon as the
/// allocator's functions are known.
void keep_resident_early();
/// Moves the blocks to the area of a slot. Stops if the driver does not need them (nullptr), or there is no address
/// space.
void begin_resident(std::uint32_t slot_index);
void stop_resident();
/// Call this before a fork, in the parent after the fork, and in the child once it has a slot. Until the child has
/// copied the parent's area, all threads of the parent wait in their next call to the allocator, at most a second.
void note_resident_fork();
void end_resident_fork();
void copy_resident(std::uint32_t slot_index);  ///< kProcesses: the child has no slot

/// Records a block of `bytes` usable bytes that the program got, and a block that the program is about to free.
void enter_resident(void* block, std::uint64_t bytes);
void leave_resident(void* block);
/// Records the last block of leave_resident() again because realloc failed.
void restore_resident();

/// Records the owner of the pages of a range. Call this after memory is mapped.
void mark_pages(AddressRange range, std::uint16_t mark);
/// Returns the mark of an address's page. Call this only between begin_resident() and stop_resident().
std::uint16_t mark_at(std::uintptr_t address);
/// Records that a range is about to be unmapped. Another thread may map memory there immediately afterwards.
void mark_unmapping(AddressRange range);
/// Records that the pages of a range have lost their contents. Their blocks, if any, have been freed.
void mark_discarded(AddressRange range);

/// Lets the driver look at this process's memory at its end, and waits for the driver: at most some seconds, and never
/// for a driver that has ended.
void note_resident_end();
/// Stores the allocator's own counts for the driver. Call this as the last thing in a process, because the allocator
/// may allocate memory. Takes locks of the allocator, and therefore does nothing if the thread is within a call to it.
void note_allocator_counts();
/// Lets the driver look if the process now holds noticeably more memory than when it last looked at a peak. Call this
/// before memory is returned to the kernel. `frees`: a call that frees the last block of leave_resident() returns it.
void note_resident_peak(std::uint64_t held_bytes, bool frees);

}  // namespace zerotax::record
