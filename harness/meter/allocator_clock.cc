#include "meter/allocator_clock.h"

#include <sys/time.h>

#include <ctime>

#include "os/got_hook.h"

namespace zerotax {
namespace {

using ClockGettime = int (*)(clockid_t, timespec*);
using Gettimeofday = int (*)(timeval*, void*);
using Time = std::time_t (*)(std::time_t*);
using TimespecGet = int (*)(timespec*, int);

ClockGettime real_clock_gettime = nullptr;
Gettimeofday real_gettimeofday = nullptr;
Time real_time = nullptr;
TimespecGet real_timespec_get = nullptr;

constexpr std::int64_t kSecond = 1'000'000'000;
/// A stopped clock advances so little that nothing becomes due, yet a loop that waits for time to pass ends.
constexpr std::int64_t kCreep = 1;
/// A racing clock advances by more than any known allocator waits before it gives memory back (jemalloc: 10 s).
constexpr std::int64_t kLeap = 60 * kSecond;

std::int64_t advance = 0;  ///< nanoseconds from one reading to the next
std::int64_t passed = 0;   ///< nanoseconds added since install(); written by the measured thread alone

constexpr int kClocks = 16;
/// The first reading of each clock inside a call: from then on it advances as the mode says.
timespec started[kClocks];
bool is_started[kClocks];

// initial-exec: a thread-local of the executable needs no allocation to be reached, not even the first time.
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

}  // namespace

void AllocatorClock::install(ClockMode mode) {
  if (mode == ClockMode::kReal) return;
  advance = mode == ClockMode::kStopped ? kCreep : kLeap;
  GotReplacements<4> replacements;
  replacements.add("clock_gettime", real_clock_gettime, &hook_clock_gettime);
  replacements.add("gettimeofday", real_gettimeofday, &hook_gettimeofday);
  replacements.add("time", real_time, &hook_time);
  replacements.add("timespec_get", real_timespec_get, &hook_timespec_get);
  replacements.apply();
}

AllocatorClock::Scope::Scope() { controlled = true; }
AllocatorClock::Scope::~Scope() { controlled = false; }

}  // namespace zerotax
