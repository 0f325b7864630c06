#pragma once

#include <sys/types.h>

namespace zerotax {

/// Throws UsageError unless it is a running program that can be sampled: not a thread, a zombie, the kernel's,
/// ourselves, or the machine's init (that of a container is a program). MachineError if it is another user's, and we
/// are not root.
void check_process(pid_t pid);

}  // namespace zerotax
