#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

namespace planted {

/// A process, no thread, that has the same memory (clone with CLONE_VM alone). `act` runs in it, on a stack of its own.
inline pid_t start_in_same_memory(int (*act)(void*), void* argument) {
  constexpr std::size_t kStack = 65'536;
  alignas(64) static char stack[kStack];
  return ::clone(act, &stack[kStack - 64], CLONE_VM | SIGCHLD, argument);
}

}  // namespace planted
