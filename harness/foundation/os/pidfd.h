#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "os/unique_fd.h"

namespace zerotax {

/// Becomes readable once the process has ended. Empty where the kernel (before 5.3) or a filter refuses, and if there
/// is no such process. pidfd_open(2).
inline UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

}  // namespace zerotax
