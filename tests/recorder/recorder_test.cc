#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>

#include "recorder_testing.h"

ZEROTAX_EVENT(every_kind, (int8_t, i8), (uint16_t, u16), (int32_t, i32), (float, ratio), (int64_t, i64), (char, letter),
              (uint16_t, triple, 3), (char, text, 5), (bool, yes), (double, wide))
ZEROTAX_MARK_EVENT(tick)

namespace zerotax {
namespace {

TEST(Recorder, ATimeThatIsGivenIsTheRecordsTime) {
  const TraceFolder folder;
  zerotax_trace_options options{};
  options.monotonic = 1;
  start(folder, options);
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto base = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000;
  // A time before the last time is replaced by the last time, because a stream's times never go back.
  for (const std::uint64_t at : {base + 5, base + 9, base + 7, base + 1'000'000'000'000'000}) {
    ZEROTAX_RECORD_AT(at, number, .who = 1, .value = at - base);
  }
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  std::vector<std::uint64_t> times;
  trace.for_each(
      [&](const CtfEvent& event) { times.push_back(static_cast<std::uint64_t>(event.monotonic_ns) - base); });
  EXPECT_EQ(times, (std::vector<std::uint64_t>{5, 9, 9, 1'000'000'000'000'000}));
}

TEST(Recorder, ATimeCannotBeGivenToATraceOfAnotherClock) {
  const TraceFolder folder;
  start(folder);
  ZEROTAX_MARK(tick);
  const std::uint64_t before = zerotax_trace_lost();
  ZEROTAX_RECORD_AT(1, number, .who = 1);
  const std::uint64_t lost = zerotax_trace_lost() - before;
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  std::size_t numbers = 0;
  trace.for_each([&](const CtfEvent& event) { numbers += event.type->name == "number" ? 1 : 0; });
  // If the TSC is no clock here, every trace uses CLOCK_MONOTONIC, and the record is kept.
  EXPECT_EQ(lost + numbers, 1U);
}

TEST(Recorder, EachFieldComesBackAsItWasGiven) {
  const TraceFolder folder;
  start(folder);
  ZEROTAX_RECORD(every_kind, .i8 = -8, .u16 = 65535, .i32 = -32, .ratio = 0.5F, .i64 = -64, .letter = 'x',
                 .triple = {1, 2, 3}, .text = "word", .yes = true, .wide = 1e100);
  ZEROTAX_MARK(tick);
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  std::vector<std::string> names;
  trace.for_each([&](const CtfEvent& event) {
    names.push_back(event.type->name);
    if (event.type->name != "every_kind") return;
    every_kind read{};
    ASSERT_EQ(event.type->bytes, offsetof(every_kind, wide) + sizeof(double));
    std::memcpy(&read, event.bytes, sizeof read);
    EXPECT_EQ(read.i8, -8);
    EXPECT_EQ(read.i64, -64);
    EXPECT_EQ(read.triple[2], 3);
    EXPECT_STREQ(read.text, "word");
    EXPECT_EQ(read.wide, 1e100);
  });
  EXPECT_EQ(names, (std::vector<std::string>{"every_kind", "tick"}));
  EXPECT_TRUE(trace.problems().empty());
}

TEST(Recorder, EightThreadsLoseNothingAndRepeatNothing) {
  const TraceFolder folder;
  start(folder, {nullptr, 0, 0, ZEROTAX_TRACE_DRAIN_SELF, 0});
  std::vector<std::thread> threads;
  for (std::uint64_t who = 0; who < 8; ++who) threads.emplace_back([who] { record_numbers(who, 100'000); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(zerotax_trace_lost(), 0U);
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  const auto values = read_numbers(trace);
  ASSERT_EQ(values.size(), 8U);
  for (const auto& [who, found] : values) EXPECT_EQ(found, sequence(100'000)) << who;
}

TEST(Recorder, ThreadsThatComeAndGoHaveStreamsOfTheirOwn) {
  const TraceFolder folder;
  start(folder);
  for (std::uint64_t who = 0; who < 100; ++who) std::thread([who] { record_numbers(who, 10); }).join();
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  const auto values = read_numbers(trace);
  EXPECT_EQ(trace.streams().size(), 100U);
  ASSERT_EQ(values.size(), 100U);
  for (const auto& [who, found] : values) EXPECT_EQ(found, sequence(10)) << who;
}

TEST(Recorder, TimesAreThoseOfTheMonotonicClock) {
  for (const int monotonic : {0, 1}) {
    const TraceFolder folder;
    start(folder, {nullptr, 0, 0, 0, monotonic});
    const auto now = [] {
      timespec time{};
      ::clock_gettime(CLOCK_MONOTONIC, &time);
      return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    std::vector<std::int64_t> limits{now()};
    for (int i = 0; i < 100; ++i) {
      ZEROTAX_MARK(tick);
      limits.push_back(now());
    }
    zerotax_trace_stop();
    CtfTrace trace(folder.path());
    std::size_t seen = 0;
    // Each time lies between the two readings around it, within the error of the calibration.
    constexpr std::int64_t kOff = 1000;
    trace.for_each([&](const CtfEvent& event) {
      EXPECT_GE(event.monotonic_ns, limits[seen] - kOff);
      EXPECT_LE(event.monotonic_ns, limits[++seen] + kOff);
    });
    EXPECT_EQ(seen, 100U);
  }
}

std::uint64_t handled = 0;

TEST(Recorder, HandlersThatInterruptARecordAreInTheTraceToo) {
  const TraceFolder folder;
  start(folder, {nullptr, 0, 0, ZEROTAX_TRACE_DRAIN_SELF, 0});
  handled = 0;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { record_numbers(1, 1, handled++); };
  ::sigaction(SIGALRM, &action, &before);
  timer_t timer{};
  ASSERT_EQ(::timer_create(CLOCK_MONOTONIC, nullptr, &timer), 0);
  const itimerspec often{{0, 30'000}, {0, 30'000}};
  ::timer_settime(timer, 0, &often, nullptr);
  std::uint64_t count = 0;
  // Records until enough signals have been handled.
  for (; handled < 500; count += 1000) record_numbers(0, 1000, count);
  ::timer_delete(timer);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(zerotax_trace_lost(), 0U);
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  auto values = read_numbers(trace);
  EXPECT_EQ(values[0], sequence(count));
  EXPECT_EQ(values[1], sequence(handled));
}

TEST(Recorder, AForkedChildHasATraceOfItsOwn) {
  const TraceFolder folder;
  start(folder);
  record_numbers(0, 1000);
  const pid_t child = ::fork();
  if (child == 0) {
    record_numbers(1, 1000);
    ::_exit(0);  // nothing is written at the child's end, so only the buffer file has the records
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  record_numbers(0, 1000, 1000);
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  auto values = read_numbers(trace);
  EXPECT_EQ(trace.processes().size(), 2U);
  EXPECT_EQ(values[0], sequence(2000));
  EXPECT_EQ(values[1], sequence(1000));
}

TEST(Recorder, StartsAnewInAnotherFolder) {
  for (int round = 0; round < 3; ++round) {
    const TraceFolder folder;
    start(folder);
    EXPECT_NE(zerotax_trace_is_on(), 0);
    record_numbers(0, 1000);
    zerotax_trace_flush();
    record_numbers(0, 1000, 1000);
    zerotax_trace_stop();
    EXPECT_EQ(zerotax_trace_is_on(), 0);
    record_numbers(0, 1000, 9000);  // records after the stop are lost
    CtfTrace trace(folder.path());
    EXPECT_EQ(read_numbers(trace)[0], sequence(2000));
  }
}

TEST(Recorder, WithoutATraceARecordIsNothing) {
  record_numbers(0, 1000);
  EXPECT_EQ(zerotax_trace_lost(), 0U);
}

}  // namespace
}  // namespace zerotax
