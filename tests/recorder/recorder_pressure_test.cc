#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "recorder_testing.h"

ZEROTAX_EVENT(large, (uint8_t, bytes, 8000))

namespace zerotax {
namespace {

constexpr std::size_t kSmall = 64 << 10;

/// Makes more records than a buffer holds. Returns the values in the trace, and the number of discarded records.
std::vector<std::uint64_t> record_too_many(const zerotax_trace_options& options, std::uint64_t count,
                                           std::uint64_t& discarded) {
  const TraceFolder folder;
  start(folder, options);
  record_numbers(0, count);
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  discarded = trace.discarded();
  EXPECT_TRUE(trace.problems().empty());
  return read_numbers(trace)[0];
}

TEST(RecorderPressure, LostAreTheNewestAndEachIsCounted) {
  std::uint64_t discarded = 0;
  const auto values =
      record_too_many({nullptr, kSmall, ZEROTAX_TRACE_LOST, ZEROTAX_TRACE_DRAIN_OFF, 0}, 10'000, discarded);
  EXPECT_LT(values.size(), 10'000U);
  EXPECT_EQ(values, sequence(values.size()));
  EXPECT_EQ(values.size() + discarded, 10'000U);
}

TEST(RecorderPressure, OverwrittenAreTheOldestAndEachIsCounted) {
  std::uint64_t discarded = 0;
  const auto values =
      record_too_many({nullptr, kSmall, ZEROTAX_TRACE_OVERWRITE, ZEROTAX_TRACE_DRAIN_OFF, 0}, 10'000, discarded);
  EXPECT_LT(values.size(), 10'000U);
  EXPECT_EQ(values, sequence(values.size(), 10'000 - values.size()));
  EXPECT_EQ(values.size() + discarded, 10'000U);
}

TEST(RecorderPressure, CountsAgreeWhileTheDrainRuns) {
  for (const int mode : {ZEROTAX_TRACE_LOST, ZEROTAX_TRACE_OVERWRITE}) {
    std::uint64_t discarded = 0;
    const auto values = record_too_many({nullptr, kSmall, mode, ZEROTAX_TRACE_DRAIN_THREAD, 0}, 500'000, discarded);
    EXPECT_EQ(values.size() + discarded, 500'000U);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
  }
}

TEST(RecorderPressure, ARecordLargerThanAPacketIsLostAndCounted) {
  const TraceFolder folder;
  start(folder, {nullptr, kSmall, 0, 0, 0});
  record_numbers(0, 10);
  static const large all{};
  record(all);
  record_numbers(0, 10, 10);
  EXPECT_EQ(zerotax_trace_lost(), 1U);
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  EXPECT_EQ(trace.discarded(), 1U);
  EXPECT_EQ(read_numbers(trace)[0], sequence(20));
}

TEST(RecorderPressure, ACancelledThreadLeavesNoLockBehind) {
  const TraceFolder folder;
  start(folder, {nullptr, kSmall, 0, ZEROTAX_TRACE_DRAIN_SELF, 0});
  for (int i = 0; i < 20; ++i) {
    pthread_t thread{};
    // Many packets are written between two cancellation points. A cancellation point within a write would end the
    // thread while the thread holds the lock.
    const auto run = [](void*) -> void* {
      for (;; ::pthread_testcancel()) record_numbers(1, 100'000);
    };
    ASSERT_EQ(::pthread_create(&thread, nullptr, run, nullptr), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::pthread_cancel(thread);
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
  }
  record_numbers(0, 10'000);
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  EXPECT_EQ(read_numbers(trace)[0], sequence(10'000));
}

TEST(RecorderPressure, OptionsOutOfRangeAreRefused) {
  const TraceFolder folder;
  zerotax_trace_options options{folder.path().c_str(), 1, 0, 0, 0};
  EXPECT_EQ(zerotax_trace_start(&options), EINVAL);
  options = {folder.path().c_str(), 0, 7, 0, 0};
  EXPECT_EQ(zerotax_trace_start(&options), EINVAL);
  options = {"/proc/nowhere/at-all", 0, 0, 0, 0};
  EXPECT_NE(zerotax_trace_start(&options), 0);
  EXPECT_EQ(zerotax_trace_is_on(), 0);
}

}  // namespace
}  // namespace zerotax
