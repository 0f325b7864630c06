#pragma once

namespace zerotax {

/// Whether no other thread or process has this process's memory, by unshare(CLONE_VM), which then changes nothing, and
/// fails for whoever shares memory. False where that may not be asked and the process has other threads.
bool memory_is_unshared();

/// Whether another process has the same memory (clone(2) with CLONE_VM alone), by unshare, and kcmp(2) of each process
/// that /proc shows. Where neither may be asked, as in many containers, such a process goes unnoticed. Allocates
/// nothing.
bool another_process_has_this_memory();

/// Whether two processes have the same memory (vfork, clone(2) with CLONE_VM), by kcmp(2). False where that may not be
/// asked.
bool share_memory(int process, int other);

}  // namespace zerotax
