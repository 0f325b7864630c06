#pragma once

#include <sys/types.h>

namespace zerotax {

/// The signal that stopped a child of ours which has not been continued since, or 0. Leaves the state to be asked for
/// again.
int stopped_by(pid_t child);

/// Whether a stopped process stopped itself: one of its threads stands at the end of a kill(2), tkill(2), tgkill(2) or
/// rt_sigqueueinfo(2) by which it was stopped, as /proc/PID/task/*/syscall says. False where that cannot be read.
bool stopped_itself(pid_t process);

}  // namespace zerotax
