// Allocators that zero only in some calls, or in a child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "short.h"

namespace planted {

// From the 101st call on, every calloc zeroes a fresh mapping.
FRESH(after_100_calls) {
  static int calls = 0;
  if (++calls > 100) memset(block, 0, size);
}

// Every calloc zeroes a fresh mapping if LD_PRELOAD is set.
FRESH(if_preloaded) {
  if (::getenv("LD_PRELOAD") != nullptr) memset(block, 0, size);
}

// Every calloc zeroes a fresh mapping on every thread except the first.
FRESH(in_second_thread) {
  if (::gettid() != ::getpid()) memset(block, 0, size);
}

// Every calloc zeroes a fresh mapping if the size is odd.
FRESH(odd_sizes) {
  if (size % 2 == 1) memset(block, 0, size);
}

// Every calloc zeroes a fresh mapping on Tuesdays, by UTC.
FRESH(on_tuesdays) {
  const std::time_t now = std::time(nullptr);
  if ((now / 86'400 + 4) % 7 == 2) memset(block, 0, size);
}

// Every seventh calloc zeroes a fresh mapping.
FRESH(one_call_in_seven) {
  static int calls = 0;
  if (++calls % 7 == 0) memset(block, 0, size);
}

// Takes 300 µs for each call, and zeroes nothing.
FRESH(slow_and_clean) {
  for (int i = 0; i < 20'000; ++i) instructions::pause();
}

// Starts a child by vfork. The child shares the memory of the process, and calls memset.
CLEARS(vfork_child) {
  const pid_t child = ::vfork();
  if (child == 0) {
    memset(block, 0, size);  // NOLINT(clang-analyzer-unix.Vfork): what it is planted for
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
}

}  // namespace planted
