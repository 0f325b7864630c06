#pragma once

#include <sys/time.h>

#include <cstdint>
#include <ctime>
#include <string>

namespace zerotax {

inline std::int64_t in_ns(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }
inline std::int64_t in_ns(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
}

/// Returns the time of a clock in nanoseconds (clock_gettime(2)).
inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return in_ns(now);
}

/// Returns CLOCK_MONOTONIC in nanoseconds, without a system call (vDSO) if the kernel's clock source is the TSC.
inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

/// Returns the CPU time of the calling thread in nanoseconds. Makes a system call.
inline std::int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/// Returns the CPU time of all threads of this process in nanoseconds. Makes a system call.
inline std::int64_t own_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

/// Return the UTC time, such as "2026-11-20T05:10:00Z". `seconds` counts from 1970.
std::string utc_text(std::int64_t seconds);
std::string utc_now();

}  // namespace zerotax
