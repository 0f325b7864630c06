#include "meter/allocator_clock.h"

#include <sys/time.h>

#include <cstdlib>
#include <ctime>

#include "os/got_hook.h"

namespace zerotax {
namespace {

using ClockGettime = int (*)(clockid_t, timespec*);
using Gettimeofday = int (*)(timeval*, void*);
using Time = std::time_t (*)(std::time_t*);
using TimespecGet = int (*)(timespec*, int);
using Getloadavg = int (*)(double*, int);

ClockGettime real_clock_gettime = nullptr;
Gettimeofday real_gettimeofday = nullptr;
Time real_time = nullptr;
TimespecGet real_timespec_get = nullptr;
Getloadavg real_getloadavg = nullptr;

constexpr std::int64_t kSecond = 1'000'000'000;
/// Nanoseconds that a stopped clock advances per reading. This is too little time for any work to become due, but a
/// loop that waits for time to pass still ends.
constexpr std::int64_t kCreep = 1;
/// Nanoseconds that a racing clock advances per reading. The time is longer than any known allocator waits before it
/// returns memory (jemalloc: 10 s).
constexpr std::int64_t kLeap = 60 * kSecond;

/// A number of runnable processes that exceeds the number of CPUs of any machine.
constexpr double kCrowded = 100'000;

std::int64_t advance = 0;  ///< nanoseconds from one reading to the next
std::int64_t passed = 0;   ///< nanoseconds added since install(); only the measured thread writes it

constexpr int kClocks = 16;
/// First reading of each clock inside a call. From then on, the mode decides how the clock advances.
timespec started[kClocks];
bool is_started[kClocks];

// With initial-exec, accessing a thread-local of the executable never allocates, not even the first time.
[[gnu::tls_model("initial-exec")]] thread_local bool controlled = false;

timespec later(timespec time, std::int64_t ns) {
  const std::int64_t sum = time.tv_nsec + ns;
  return {time.tv_sec + sum / kSecond, sum % kSecond};
}

int hook_clock_gettime(clockid_t clock, timespec* time) {
  if (!controlled || clock < 0 || clock >= kClocks) return real_clock_gettime(clock, time);
  if (!is_started[clock]) {
    if (const int refused = real_clock_gettime(clock, &started[clock]); refused != 0) return refused;
    is_started[clock] = true;
  }
  passed += advance;
  *time = later(started[clock], passed);
  return 0;
}

int hook_gettimeofday(timeval* time, void* zone) {
  if (!controlled || time == nullptr) return real_gettimeofday(time, zone);
  timespec now{};
  if (const int refused = hook_clock_gettime(CLOCK_REALTIME, &now); refused != 0) return refused;
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

std::time_t hook_time(std::time_t* time) {
  if (!controlled) return real_time(time);
  timespec now{};
  hook_clock_gettime(CLOCK_REALTIME, &now);
  if (time != nullptr) *time = now.tv_sec;
  return now.tv_sec;
}

int hook_timespec_get(timespec* time, int base) {
  if (!controlled || base != TIME_UTC) return real_timespec_get(time, base);
  return hook_clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

/// Returns a load average that suits the clock's mode. For a stopped clock, returns the load of an idle machine; for a
/// racing clock, the load of an overloaded machine.
int hook_getloadavg(double* loads, int count) {
  if (!controlled || loads == nullptr || count < 0) return real_getloadavg(loads, count);
  const int given = count < 3 ? count : 3;
  for (int i = 0; i < given; ++i) loads[i] = advance == kLeap ? kCrowded : 0;
  return given;
}

}  // namespace

void AllocatorClock::install(ClockMode mode) {
  if (mode == ClockMode::kReal) return;
  advance = mode == ClockMode::kStopped ? kCreep : kLeap;
  GotReplacements<5> replacements;
  replacements.add("clock_gettime", real_clock_gettime, &hook_clock_gettime);
  replacements.add("gettimeofday", real_gettimeofday, &hook_gettimeofday);
  replacements.add("time", real_time, &hook_time);
  replacements.add("timespec_get", real_timespec_get, &hook_timespec_get);
  replacements.add("getloadavg", real_getloadavg, &hook_getloadavg);
  replacements.apply();
}

AllocatorClock::Scope::Scope() { controlled = true; }
AllocatorClock::Scope::~Scope() { controlled = false; }

}  // namespace zerotax
