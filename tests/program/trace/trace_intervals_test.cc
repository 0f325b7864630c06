#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "trace/distribution.h"
#include "trace/intervals.h"

namespace zerotax::trace {
namespace {

CtfField field_at(const char* name, std::uint32_t offset) {
  return {name, CtfField::Kind::kUnsigned, 8, 1, false, offset};
}

/// Events of threads of one process, like those in a trace.
class ToldIntervals {
 public:
  ToldIntervals(const char* from, const char* to, const char* key = "thread") : intervals(choice(from, to, key)) {}
  void event(pid_t tid, const char* name, std::int64_t ns, std::uint64_t address = 0, pid_t pid = 1) {
    CtfType type;
    type.name = name;
    if (address != 0) type.fields = {field_at("address", 0)};
    CtfEvent event;
    event.pid = pid;
    event.tid = tid;
    event.type = &type;
    event.monotonic_ns = ns;
    event.bytes = reinterpret_cast<const char*>(&address);
    intervals.add(event);
  }
  static IntervalChoice choice(const char* from, const char* to, const char* key) {
    IntervalChoice choice{from, to};
    choice.set_key(key);
    return choice;
  }
  TraceIntervals intervals;
};

TEST(TraceIntervals, AreTakenWithinAThread) {
  ToldIntervals told("begin", "end");
  told.event(1, "begin", 100);
  told.event(2, "begin", 110);
  told.event(1, "other", 115);
  told.event(1, "end", 130);
  told.event(2, "end", 210);
  const Intervals found = told.intervals.result();
  EXPECT_EQ(found.all.count, 2U);
  EXPECT_EQ(*found.all.min_ns, 30.0);
  EXPECT_EQ(*found.all.max_ns, 100.0);
  EXPECT_EQ(*found.threads.at(0).time.median_ns, 30.0);
  EXPECT_EQ(*found.threads.at(1).time.median_ns, 100.0);
}

TEST(TraceIntervals, BeginAtTheLastFromAndCountWhatHasNoPartner) {
  ToldIntervals told("begin", "end");
  told.event(1, "end", 50);
  told.event(1, "begin", 100);
  told.event(1, "begin", 120);
  told.event(1, "end", 130);
  told.event(1, "begin", 140);
  const IntervalThread row = told.intervals.result().threads.at(0);
  EXPECT_EQ(*row.time.total_ns, 10.0);
  EXPECT_EQ(row.from_without_to, 2U);
  EXPECT_EQ(*row.to_without_from, 1U);
}

TEST(TraceIntervals, OfOneTypeAreFromEachToTheNext) {
  ToldIntervals told("tick", "tick");
  for (const std::int64_t ns : {100, 110, 130}) told.event(1, "tick", ns);
  const IntervalThread row = told.intervals.result().threads.at(0);
  EXPECT_EQ(row.time.count, 2U);
  EXPECT_EQ(*row.time.total_ns, 30.0);
  EXPECT_EQ(row.from_without_to, 0U);
}

TEST(TraceIntervals, WithoutAPairHaveNoFigures) {
  ToldIntervals told("begin", "end");
  told.event(1, "begin", 100);
  EXPECT_EQ(told.intervals.result().all.count, 0U);
  EXPECT_FALSE(told.intervals.result().all.median_ns);
}

TEST(TraceIntervals, WithAFieldAsKeyCrossThreadsAndProcesses) {
  ToldIntervals told("begin", "end", "address");
  told.event(1, "begin", 100, 7);
  told.event(2, "begin", 110, 8);
  told.event(3, "end", 150, 8, 2);
  told.event(1, "end", 190, 7);
  told.event(1, "end", 200, 9);
  const Intervals found = told.intervals.result();
  EXPECT_EQ(found.all.count, 2U);
  EXPECT_EQ(*found.all.min_ns, 40.0);
  EXPECT_EQ(*found.all.max_ns, 90.0);
  EXPECT_EQ(*found.all.mean_ns, 65.0);
  EXPECT_EQ(*found.all.variance_ns2, 2 * 25.0 * 25.0);
  EXPECT_EQ(found.threads.back().pid, 2);
  EXPECT_EQ(*found.threads.at(0).to_without_from, 1U);
}

TEST(TraceIntervals, OfAForkEndWithTheFirstEventOfTheChild) {
  ToldIntervals told("fork", "*", "address=pid");
  told.event(1, "fork", 100, 2);
  told.event(1, "other", 105);
  told.event(2, "first", 130, 0, 2);
  told.event(2, "second", 140, 0, 2);
  const Intervals found = told.intervals.result();
  EXPECT_EQ(found.all.count, 1U);
  EXPECT_EQ(*found.all.total_ns, 30.0);
  EXPECT_FALSE(found.threads.at(0).to_without_from);
}

TEST(TraceIntervals, OfAnyEventsAreFromOneToTheNextWhoeverTheyAreOf) {
  ToldIntervals told("begin", "end", "any");
  told.event(1, "begin", 100);
  told.event(2, "end", 101, 0, 2);
  EXPECT_EQ(*told.intervals.result().all.total_ns, 1.0);
}

TEST(IntervalChoice, RefusesAKeyThatTheEventsLack) {
  CtfProcess process;
  process.metadata.types[1] = {"begin", {field_at("address", 0)}, 8};
  process.metadata.types[2] = {"end", {field_at("address", 0), field_at("bytes", 8)}, 16};
  const auto check = [&](const char* key) { ToldIntervals::choice("begin", "end", key).check({process}); };
  EXPECT_NO_THROW(check("address"));
  EXPECT_NO_THROW(check("address=bytes"));
  EXPECT_NO_THROW(check("process"));
  EXPECT_THROW(check("bytes"), UsageError);
  EXPECT_THROW(check("address=adress"), UsageError);
  EXPECT_THROW(check("=bytes"), UsageError);
  EXPECT_THROW(check("bytes="), UsageError);
}

TEST(Histogram, HasEveryTimeOnceInClassesWithoutAGap) {
  const std::vector<HistogramRow> rows = histogram_of({0.5, 1, 1.9, 2, 4.9, 5, 120, 999});
  ASSERT_EQ(rows.size(), 9U);
  EXPECT_EQ(rows.front().from_ns, 0.0);
  double limit = 0;
  std::uint64_t times = 0;
  for (const HistogramRow& row : rows) {
    EXPECT_EQ(row.from_ns, limit);
    limit = row.to_ns;
    times += row.count;
  }
  EXPECT_EQ(times, 8U);
  EXPECT_EQ(limit, 1000.0);
  EXPECT_EQ(rows.at(1).count, 2U);  // 2 to 5
  EXPECT_TRUE(histogram_of({}).empty());
}

}  // namespace
}  // namespace zerotax::trace
