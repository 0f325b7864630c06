#pragma once

#include <cstdint>

namespace zerotax::recorder {

/// The same moment on three clocks.
struct ClockPair {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t realtime_ns;
};

/// The clock of the timestamps.
struct Clock {
  bool tsc = false;  ///< counts_tsc() for threads that may still be recording when the next trace begins
  ClockPair begin{};
  ClockPair end{};  ///< the latest calibration; the further from begin, the better
};

/// Whether the processor's counter (the TSC of x86-64, the virtual counter of arm64, called TSC here) counts at one
/// rate on all CPUs and in all power states: on x86-64 it is invariant (CPUID 0x80000007, EDX bit 8; AMD APM 2, 13.2.4;
/// Intel SDM 3B, 18.17.1), and the kernel lists it among its clock sources, from which it removes a clock that it has
/// found unstable.
bool tsc_is_usable();

/// Chooses the TSC, or else CLOCK_MONOTONIC in ns, and calibrates for a millisecond if it is the TSC.
void start_clock(Clock& clock, bool monotonic);

/// Takes the end of the calibration again.
void calibrate(Clock& clock);

inline bool counts_tsc(const Clock& clock) { return __atomic_load_n(&clock.tsc, __ATOMIC_RELAXED); }

/// Ticks now.
std::uint64_t read_ticks(const Clock& clock);

/// Ticks per second, to the nearest whole one.
std::uint64_t frequency(const Clock& clock);

/// Seconds and ticks from 1970 (UTC) to tick 0.
void unix_offset(const Clock& clock, std::int64_t& seconds, std::uint64_t& ticks);

}  // namespace zerotax::recorder
