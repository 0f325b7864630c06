#include "clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "clock_source.h"
#include "zerotax/recorder_fast.h"

namespace zerotax::recorder {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kFirstCalibrationNs = 1'000'000;
__extension__ using Wide = unsigned __int128;

std::uint64_t clock_ns(clockid_t which) {
  timespec now{};
  ::clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t read_tsc() {
#ifdef ZEROTAX_HAS_TICKS_
  return ::zerotax_ticks_();
#else
  return 0;
#endif
}

/// Reads the clock between two readings of the TSC, several times. Keeps the attempt whose two readings are closest.
ClockPair read_pair(bool tsc) {
  ClockPair pair{};
  if (!tsc) {
    pair.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    pair.realtime_ns = clock_ns(CLOCK_REALTIME);
    pair.ticks = pair.monotonic_ns;
    return pair;
  }
  std::uint64_t best = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = read_tsc();
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t after = read_tsc();
    if (after - before >= best) continue;
    best = after - before;
    pair.ticks = before + best / 2;
    pair.monotonic_ns = now;
  }
  // During this short time, the difference between the two clocks is constant.
  const std::uint64_t before = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t real = clock_ns(CLOCK_REALTIME);
  pair.realtime_ns = real - (before - pair.monotonic_ns);
  return pair;
}

}  // namespace

bool tsc_is_usable() {
  const char* const source = invariant_clock_source();
  if (source == nullptr) return false;
  const int file = ::open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char names[256] = " ";
  const ssize_t length = ::read(file, names + 1, sizeof names - 3);
  ::close(file);
  for (ssize_t i = 1; i <= length; ++i) {
    if (names[i] == '\n') names[i] = ' ';
  }
  return length > 0 && std::strstr(names, source) != nullptr;
}

void start_clock(Clock& clock, bool monotonic) {
  __atomic_store_n(&clock.tsc, !monotonic && tsc_is_usable(), __ATOMIC_RELAXED);
  clock.begin = read_pair(clock.tsc);
  do {
    calibrate(clock);
  } while (clock.tsc && clock.end.monotonic_ns - clock.begin.monotonic_ns < kFirstCalibrationNs);
}

void calibrate(Clock& clock) { clock.end = read_pair(clock.tsc); }

std::uint64_t read_ticks(const Clock& clock) { return counts_tsc(clock) ? read_tsc() : clock_ns(CLOCK_MONOTONIC); }

std::uint64_t frequency(const Clock& clock) {
  if (!clock.tsc) return kSecond;
  const std::uint64_t elapsed = clock.end.monotonic_ns - clock.begin.monotonic_ns;
  return static_cast<std::uint64_t>((Wide{clock.end.ticks - clock.begin.ticks} * kSecond + elapsed / 2) / elapsed);
}

void unix_offset(const Clock& clock, std::int64_t& seconds, std::uint64_t& ticks) {
  const Wide per_second = frequency(clock);
  const Wide since_1970 = Wide{clock.begin.realtime_ns} * per_second / kSecond;
  // The offset would be negative if the clock's time since 1970 is shorter than the TSC's age. In that case, 0 is used.
  const Wide offset = since_1970 > clock.begin.ticks ? since_1970 - clock.begin.ticks : 0;
  seconds = static_cast<std::int64_t>(offset / per_second);
  ticks = static_cast<std::uint64_t>(offset % per_second);
}

}  // namespace zerotax::recorder
