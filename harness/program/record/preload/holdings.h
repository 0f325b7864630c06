#pragma once

#include <cstdint>
#include <optional>

#include "os/page.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// Accounts for memory by conservation. The kernel zeroed the anonymous memory that a process holds at its end, plus
/// the memory that it returned before. Memory taken over at a fork and copies of file pages are subtracted.

/// Resident bytes (proc_pid_statm(5)), without pages of hugetlbfs.
struct Resident {
  std::uint64_t anonymous;
  std::uint64_t files;  ///< resident bytes of files and shared memory
};

/// Reads an open file statm. Returns nothing if the file is unreadable, or belongs to a thread that has ended. The
/// numbers are exact since Linux 6.17; in earlier versions, they may lack some hundred KiB per CPU.
std::optional<Resident> read_resident(int fd);

/// Returns the minor faults of the process, including faults of ended threads.
std::uint64_t own_minor_faults();

/// Begins the account of a new program, or of a child of fork.
void open_holdings(ProcessSlot& slot);

/// Takes a sample if 64 KiB or more were returned since the last sample. Call this before bytes are returned, because
/// the memory that the process holds then may be its peak.
void about_to_return(std::uint64_t bytes);

/// Counts the memory that the process holds at a fork, because a later write to a held page may cause a copy fault.
/// Call this before the fork.
void note_forked_holdings();

/// Samples the memory that the process holds, and returns the size of that memory in bytes.
std::uint64_t look_at_holdings();

/// Records returned bytes.
void have_returned(std::uint64_t bytes, std::uint64_t huge_bytes);

/// Sets bytes of the pool of returned memory aside for a block with `bytes` unpopulated bytes, because the block may
/// refill that memory. Returns the number of bytes set aside.
std::uint64_t take_from_pool(std::uint64_t bytes);
void give_to_pool(std::uint64_t bytes);

/// Measures the cost of populating memory at the 1st, 2nd, 4th, 8th … return. The sample populates as many bytes as
/// were returned, at most 16 MiB. `huge`: the program's memory was in huge pages.
void measure_faults(std::uint64_t bytes, bool huge);

/// Records the memory that the process holds and the CPU time that it used. Call this before the process ends, or
/// executes another program. May be called again if the process did not end.
void close_holdings();

/// Call this if an exec failed, so that the process did not end.
void reopen_holdings();

/// Adds the faults and CPU time of this process to the counts of the process that owns the slot.
SharerUse add_own_use();
/// Takes back what add_own_use() added.
void take_back_use(SharerUse use);

/// Adds the faults and CPU time of a process that shares another process's memory to the counts of the memory's owner.
/// Call this before the sharing process ends, or executes another program. If the owner has ended, the owner's memory
/// counts are closed again.
SharerUse note_sharer_end();

/// Call this if the exec of the sharing process failed.
void take_back_sharer_end(SharerUse use);

}  // namespace zerotax::record
