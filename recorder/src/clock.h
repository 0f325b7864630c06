#pragma once

#include <cstdint>

namespace zerotax::recorder {

/// One moment on three clocks.
struct ClockPair {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t realtime_ns;
};

/// The clock for timestamps.
struct Clock {
  bool tsc = false;  ///< read only by counts_tsc(), because threads may still be recording when the next trace begins
  ClockPair begin{};
  ClockPair end{};  ///< the latest calibration; a later calibration is more accurate
};

/// Whether the processor's counter counts at the same rate on all CPUs and in all power states. The counter is the TSC
/// of x86-64 or the virtual counter of arm64; both are called TSC here. On x86-64 the TSC must be invariant (CPUID
/// 0x80000007, EDX bit 8; AMD APM 2, 13.2.4; Intel SDM 3B, 18.17.1). The kernel must also list the TSC among its clock
/// sources, because it removes unstable clocks from that list.
bool tsc_is_usable();

/// Selects the TSC, or else CLOCK_MONOTONIC in ns. Calibrating the TSC takes a millisecond.
void start_clock(Clock& clock, bool monotonic);

/// Updates the end of the calibration.
void calibrate(Clock& clock);

inline bool counts_tsc(const Clock& clock) { return __atomic_load_n(&clock.tsc, __ATOMIC_RELAXED); }

/// Returns the current time in ticks.
std::uint64_t read_ticks(const Clock& clock);

/// Returns the ticks per second, rounded to a whole number.
std::uint64_t frequency(const Clock& clock);

/// Computes the time from 1970 (UTC) to tick 0, in seconds and ticks.
void unix_offset(const Clock& clock, std::int64_t& seconds, std::uint64_t& ticks);

}  // namespace zerotax::recorder
