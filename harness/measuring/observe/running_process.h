#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace zerotax {

/// Throws UsageError unless it is a running program that can be sampled: not a thread, a zombie, the kernel's,
/// ourselves, or the machine's init (that of a container is a program). MachineError if it is another user's, and we
/// may not look at it (may_watch).
void check_process(pid_t pid);

/// A sentence about processes that still run after the end of the watched process, which started them.
std::string runs_on(const std::vector<pid_t>& processes);

/// Whether this process may look at another one: the process is of our user, or we are root, or have CAP_SYS_PTRACE.
/// `user`: the user of that process.
bool may_watch(pid_t pid, uid_t user);

}  // namespace zerotax
