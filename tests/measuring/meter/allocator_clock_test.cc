#include "meter/allocator_clock.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <ctime>
#include <thread>

namespace zerotax {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t monotonic() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

void wait_a_bit() {
  const timespec time{0, 2'000'000};
  ::nanosleep(&time, nullptr);
}

// One test per process, because the clock can be installed only once.
class AllocatorClockTest : public testing::Test {
 protected:
  /// Checks the expectation in a child process, whose exit status reports the result.
  static void in_child(const std::function<bool()>& holds) {
    EXPECT_EXIT(std::_Exit(holds() ? 0 : 1), testing::ExitedWithCode(0), "");
  }
};

TEST_F(AllocatorClockTest, StandsStillInsideACallAndGoesOutside) {
  in_child([] {
    AllocatorClock::install(ClockMode::kStopped);
    const std::int64_t before = monotonic();
    wait_a_bit();
    if (monotonic() - before < 2'000'000) return false;
    std::int64_t inside = 0;
    {
      const AllocatorClock::Scope scope;
      inside = monotonic();
      wait_a_bit();
      if (monotonic() - inside > 1000) return false;
    }
    wait_a_bit();
    {
      const AllocatorClock::Scope scope;
      if (monotonic() - inside > 1000) return false;
    }
    return monotonic() - inside > 4'000'000;
  });
}

TEST_F(AllocatorClockTest, LeapsFromOneReadingToTheNextInsideACall) {
  in_child([] {
    AllocatorClock::install(ClockMode::kRacing);
    const AllocatorClock::Scope scope;
    const std::int64_t first = monotonic();
    return monotonic() - first == 60 * kSecond;
  });
}

TEST_F(AllocatorClockTest, GoesOnForALoopThatWaitsForTime) {
  in_child([] {
    AllocatorClock::install(ClockMode::kStopped);
    const AllocatorClock::Scope scope;
    const std::int64_t first = monotonic();
    while (monotonic() - first < 10'000) {
    }
    return true;
  });
}

TEST_F(AllocatorClockTest, AnswersEveryWayOfAskingForTheTimeOfDayAlike) {
  in_child([] {
    AllocatorClock::install(ClockMode::kRacing);
    const AllocatorClock::Scope scope;
    const std::time_t first = ::time(nullptr);
    timeval by_timeval{};
    ::gettimeofday(&by_timeval, nullptr);
    timespec by_timespec{};
    if (std::timespec_get(&by_timespec, TIME_UTC) != TIME_UTC) return false;
    return by_timeval.tv_sec - first == 60 && by_timespec.tv_sec - first == 120;
  });
}

TEST_F(AllocatorClockTest, LeavesOtherThreadsTheirTime) {
  in_child([] {
    AllocatorClock::install(ClockMode::kRacing);
    const AllocatorClock::Scope scope;
    std::int64_t took = 0;
    std::thread([&] {
      const std::int64_t first = monotonic();
      took = monotonic() - first;
    }).join();
    return took < kSecond;
  });
}

}  // namespace
}  // namespace zerotax
