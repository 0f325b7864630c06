#pragma once

#include <sys/types.h>

#include <cstdint>

#include "record/preload/arena.h"

namespace zerotax::record {

/// Counts a call that starts a process, at the call's stack. Call this before the call. `held_bytes` is the anonymous
/// memory whose page tables fork copies. Allocates nothing and takes no lock.
void begin_fork(ForkKind kind, std::uint64_t held_bytes = 0);
/// Call this in the calling thread when the call has returned. With `timed` false, the time of the call is ignored,
/// because it includes the run of the process, as in system(3).
void end_fork(bool started, bool timed = true);

/// Call this in a child of fork.
void note_fork_in_child();
/// Call this when the process closes a range of descriptors.
void note_closed_range();

/// An exec that was added to the site that started the process. If the exec fails, its count is taken back.
struct ExecOfFork {
  ForkSite* site;
  std::uint64_t ns;
  bool allocated;
  bool new_user;
  bool new_session;
  bool closed;
};
/// Call this in any process before it executes a program.
ExecOfFork note_exec_of_fork();
void take_back(const ExecOfFork& exec);

}  // namespace zerotax::record
