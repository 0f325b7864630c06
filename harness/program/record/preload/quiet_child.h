#pragma once

#include <sys/types.h>

#include <cstdint>

#include "record/preload/arena.h"
#include "record/preload/holdings.h"

namespace zerotax::record {

// A child of fork is quiet until it calls the allocator, changes its mappings, or populates memory. A quiet child has
// no slot, because opening a slot takes longer than many children live. Its faults and CPU time count for its parent.

/// Begins a quiet child, if the memory that the child will hold can be compared with the memory that it holds now.
bool begin_quiet_child();
/// The state of a quiet child when fork returned in it.
struct AtFork {
  pid_t pid;
  std::int64_t ns;  ///< CLOCK_MONOTONIC
  Resident resident;
  std::uint64_t faults;  ///< minor faults
};
/// Returns the state at the fork if this process is a quiet child, otherwise nullptr.
const AtFork* quiet_since();
/// Ends the quiet child, because the process opens a slot. Returns false if the process was not quiet.
bool end_quiet_child();
/// Whether this process is a quiet child that has populated no memory. A quiet child that has populated memory, or took
/// many faults, opens a slot.
bool stays_quiet();
/// Adds the faults and CPU time of a quiet child to its parent's counts. Call this before the child ends, or before it
/// executes another program (`execs`).
SharerUse note_quiet_end(bool execs);
/// Call this if the exec failed.
void take_back_quiet_end(SharerUse use);

}  // namespace zerotax::record
