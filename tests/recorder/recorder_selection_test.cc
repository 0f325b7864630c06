#include <thread>

#include "recorder_testing.h"
#include "src/selection.h"

ZEROTAX_EVENT(request_begin, (uint64_t, id))
ZEROTAX_EVENT(request_debug, (uint64_t, id))
ZEROTAX_MARK_EVENT(deadline_missed)

namespace zerotax {
namespace {

using recorder::is_listed;
using recorder::is_name_list;
using recorder::is_wanted;

void record_each(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    ZEROTAX_RECORD(request_begin, .id = i);
    ZEROTAX_RECORD(request_debug, .id = i);
  }
}

std::map<std::string, std::uint64_t> types_in(const TraceFolder& folder) {
  CtfTrace trace(folder.path());
  std::map<std::string, std::uint64_t> types;
  trace.for_each([&](const CtfEvent& event) { ++types[event.type->name]; });
  return types;
}

int starts = 0;
int stops = 0;

void count_changes(int on) {
  ++(on != 0 ? starts : stops);
  ZEROTAX_RECORD(request_begin, .id = 100);
}

TEST(RecorderSelection, NamesMatchAsInAShell) {
  EXPECT_TRUE(is_wanted("", "anything"));
  EXPECT_TRUE(is_wanted("a,b*", "b"));
  EXPECT_TRUE(is_wanted("a,b*", "bcd"));
  EXPECT_FALSE(is_wanted("a,b*", "ab"));
  EXPECT_TRUE(is_wanted("!a", "b"));
  EXPECT_FALSE(is_wanted("*,!a?c", "abc"));
  EXPECT_TRUE(is_wanted("*,!a?c", "ac"));
  EXPECT_TRUE(is_wanted("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(is_wanted("*a*b", "aab_"));
  EXPECT_FALSE(is_listed("", "a"));
  EXPECT_FALSE(is_listed("!a", "b"));
  EXPECT_TRUE(is_listed("x,a*", "abc"));
}

TEST(RecorderSelection, AListOfNamesIsChecked) {
  for (const char* list : {"", "a", "a,!b*", "?"}) EXPECT_TRUE(is_name_list(list)) << list;
  for (const char* list : {",", "a,", "a,,b", "!", "a b", "a;b", "!!a"}) EXPECT_FALSE(is_name_list(list)) << list;
}

TEST(RecorderSelection, OnlyEventsThatAreWantedAreRecordedAlsoLater) {
  const TraceFolder all;
  start(all);
  record_each(10);
  zerotax_trace_stop();
  const TraceFolder some;
  zerotax_trace_options options{};
  options.events = "request_*,!*debug";
  start(some, options);
  record_each(10);
  EXPECT_EQ(zerotax_trace_lost(), 0U);
  zerotax_trace_stop();
  const TraceFolder again;
  start(again);
  record_each(10);
  zerotax_trace_stop();
  const std::map<std::string, std::uint64_t> both{{"request_begin", 10}, {"request_debug", 10}};
  EXPECT_EQ(types_in(all), both);
  EXPECT_EQ(types_in(some), (std::map<std::string, std::uint64_t>{{"request_begin", 10}}));
  EXPECT_EQ(types_in(again), both);
}

TEST(RecorderSelection, ATriggerEndsTheTraceAndKeepsWhatPrecededIt) {
  const TraceFolder folder;
  zerotax_trace_options options{};
  options.until = "deadline_*";
  options.events = "request_begin";
  start(folder, options);
  record_each(1000);
  EXPECT_EQ(zerotax_trace_is_on(), 1);
  ZEROTAX_MARK(deadline_missed);
  EXPECT_EQ(zerotax_trace_is_on(), 0);
  record_each(1000);
  const std::map<std::string, std::uint64_t> expected{{"deadline_missed", 1}, {"request_begin", 1000}};
  EXPECT_EQ(types_in(folder), expected) << "before anything is written";
  zerotax_trace_stop();
  EXPECT_EQ(types_in(folder), expected);
}

TEST(RecorderSelection, ATriggerInAnyThreadEndsTheTraceOfAll) {
  for (int round = 0; round < 20; ++round) {
    const TraceFolder folder;
    zerotax_trace_options options{};
    options.until = "deadline_missed";
    start(folder, options);
    std::vector<std::thread> threads;
    for (std::uint64_t who = 0; who < 3; ++who) threads.emplace_back([who] { record_numbers(who, 2000); });
    threads.emplace_back([] { ZEROTAX_MARK(deadline_missed); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(zerotax_trace_is_on(), 0);
    if (round % 2 == 0) zerotax_trace_stop();
    CtfTrace trace(folder.path());
    for (const auto& [who, values] : read_numbers(trace)) EXPECT_EQ(values, sequence(values.size(), values.front()));
    EXPECT_TRUE(trace.problems().empty());
    EXPECT_EQ(types_in(folder).at("deadline_missed"), 1U);
    zerotax_trace_stop();
  }
}

TEST(RecorderSelection, WatchersAreToldOfEachStartAndStop) {
  starts = stops = 0;
  ASSERT_EQ(zerotax_trace_watch(count_changes), 0);
  for (int round = 1; round <= 2; ++round) {
    const TraceFolder folder;
    start(folder);
    EXPECT_EQ(starts, round);
    zerotax_trace_stop();
    zerotax_trace_stop();
    EXPECT_EQ(stops, round);
    EXPECT_EQ(types_in(folder).at("request_begin"), 2U);
  }
}

}  // namespace
}  // namespace zerotax
