#pragma once

#include <sys/types.h>

#include <cstdint>

#include "record/preload/arena.h"
#include "record/preload/holdings.h"

namespace zerotax::record {

// A child of fork is quiet until the child calls the allocator, changes its mappings, populates memory, or takes many
// faults. A quiet child has no slot, because opening a slot takes longer than many children live. The parent's counts
// include the faults and CPU time of the quiet child.

/// Makes this child quiet and returns true, if a later count of its memory can show whether the child populated memory.
bool begin_quiet_child();
/// The state of a quiet child at the return of fork.
struct AtFork {
  pid_t pid;
  std::int64_t ns;  ///< CLOCK_MONOTONIC
  Resident resident;
  std::uint64_t faults;  ///< minor faults
};
/// Returns the state at the fork if this process is a quiet child, otherwise nullptr.
const AtFork* quiet_since();
/// Forgets the state at the fork. Returns whether the process was quiet.
bool end_quiet_child();
/// Returns whether this process is still a quiet child. Opens a slot if the quiet child has populated memory, or took
/// many faults.
bool stays_quiet();
/// Adds the faults and CPU time of a quiet child to its parent's counts. Call this before the child ends, or before it
/// executes another program (`execs`).
SharerUse note_quiet_end(bool execs);
/// Call this if the exec failed.
void take_back_quiet_end(SharerUse use);

}  // namespace zerotax::record
