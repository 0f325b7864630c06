/* A clock for C and C++: CLOCK_MONOTONIC in nanoseconds. */
#pragma once

// NOLINTBEGIN(modernize-*): it is C as well

#include <stdint.h>
#include <time.h>

static inline __attribute__((no_instrument_function)) int64_t stopwatch_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// NOLINTEND(modernize-*)
