#pragma once

#include <cstdint>
#include <ctime>

namespace zerotax {

/// CLOCK_MONOTONIC in nanoseconds; answered in user space (vDSO) where the kernel's clock source is the TSC.
inline std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// CPU time of the calling thread in nanoseconds; a system call.
inline std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace zerotax
