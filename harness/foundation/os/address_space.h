#pragma once

namespace zerotax {

/// Whether this process shares its memory with no other thread or process. Tests this by unshare(CLONE_VM), which
/// succeeds and changes nothing if memory is unshared, and fails if memory is shared. Returns false if the call is not
/// permitted and the process has other threads.
bool memory_is_unshared();

/// Whether another process shares this process's memory (clone(2) with CLONE_VM alone). Tests this by unshare, and by
/// kcmp(2) for each process that /proc shows. If neither call is permitted, as in many containers, a process that
/// shares the memory goes unnoticed. Allocates nothing.
bool another_process_has_this_memory();

/// Whether two processes share their memory (vfork, clone(2) with CLONE_VM), by kcmp(2). Returns false if the call is
/// not permitted.
bool share_memory(int process, int other);

}  // namespace zerotax
