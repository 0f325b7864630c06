#pragma once

#include <cstdint>
#include <optional>

#include "os/page.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// The conservation of memory: what the kernel zeroed for a process is the anonymous memory that it holds in the end,
/// and that it returned before, less what it took over at a fork, and less the pages of files that it has copies of.

/// A new image, or a child of fork, begins to be watched.
void open_holdings(ProcessSlot& slot);

/// Bytes are about to be returned: what the process holds now may be the most that it ever held. Looks at it if so many
/// were returned since the last time that it matters (64 KiB).
void about_to_return(std::uint64_t bytes);

/// The process is about to fork: a write to what it holds now may be a copy fault.
void note_forked_holdings();

/// Looks at what the process holds now, in bytes.
std::uint64_t look_at_holdings();

/// They were returned.
void have_returned(std::uint64_t bytes, std::uint64_t huge_bytes);

/// A block with so many unpopulated bytes was given to the program: it may fill again what was returned. Returns how
/// many bytes of the pool are put aside for it.
std::uint64_t take_from_pool(std::uint64_t bytes);
void give_to_pool(std::uint64_t bytes);

/// Measures now and then (at the 1st, 2nd, 4th, 8th … return) what the kernel takes to populate memory: as many bytes
/// as were returned, 16 MiB at most. `huge`: the program's memory was in huge pages.
void measure_faults(std::uint64_t bytes, bool huge);

/// The process is about to end, or to become another program: what it holds, and the CPU time that it used. May be
/// called again, if it did not end after all.
void close_holdings();

/// Call this if the process did not end because its exec failed.
void reopen_holdings();

/// A process that shares the memory of another is about to end, or to become another program: its faults and CPU time
/// are added to those of the process whose memory it is. If the latter has ended, its holdings are closed once more.
SharerUse note_sharer_end();

/// Call this if the exec failed.
void take_back_sharer_end(SharerUse use);

}  // namespace zerotax::record
