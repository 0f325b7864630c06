#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

namespace planted {

/// Starts a process, not a thread, with the same memory (clone with only CLONE_VM), which runs `act` on its own stack.
inline pid_t start_in_same_memory(int (*act)(void*), void* argument) {
  constexpr std::size_t kStack = 65'536;
  alignas(64) static char stack[kStack];
  return ::clone(act, &stack[kStack - 64], CLONE_VM | SIGCHLD, argument);
}

}  // namespace planted
