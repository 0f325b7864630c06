// Zeroing in some calls only, or not in the caller.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "short.h"

namespace planted {

// Zeroes from the 101st call on. A fresh mapping each time.
FRESH(after_100_calls) {
  static int calls = 0;
  if (++calls > 100) memset(block, 0, size);
}

// Zeroes if LD_PRELOAD is set. A fresh mapping each time.
FRESH(if_preloaded) {
  if (::getenv("LD_PRELOAD") != nullptr) memset(block, 0, size);
}

// Zeroes on every thread except the first. A fresh mapping each time.
FRESH(in_second_thread) {
  if (::gettid() != ::getpid()) memset(block, 0, size);
}

// Zeroes blocks of an odd size. A fresh mapping each time.
FRESH(odd_sizes) {
  if (size % 2 == 1) memset(block, 0, size);
}

// Zeroes on Tuesdays, by UTC. A fresh mapping each time.
FRESH(on_tuesdays) {
  const std::time_t now = std::time(nullptr);
  if ((now / 86'400 + 4) % 7 == 2) memset(block, 0, size);
}

// Zeroes in every seventh call. A fresh mapping each time.
FRESH(one_call_in_seven) {
  static int calls = 0;
  if (++calls % 7 == 0) memset(block, 0, size);
}

// Takes 300 µs for each call, and zeroes nothing.
FRESH(slow_and_clean) {
  for (int i = 0; i < 20'000; ++i) instructions::pause();
}

// A child of vfork, which shares this memory, calls memset.
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
