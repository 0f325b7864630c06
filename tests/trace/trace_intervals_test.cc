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

/// Events of threads of one process, as a trace would report them.
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
  const Json json = told.intervals.json();
  EXPECT_EQ(json.at("all").at("count"), 2);
  EXPECT_EQ(json.at("all").at("min_ns"), 30.0);
  EXPECT_EQ(json.at("all").at("max_ns"), 100.0);
  EXPECT_EQ(json.at("threads").at(0).at("time").at("median_ns"), 30.0);
  EXPECT_EQ(json.at("threads").at(1).at("time").at("median_ns"), 100.0);
}

TEST(TraceIntervals, BeginAtTheLastFromAndCountWhatHasNoPartner) {
  ToldIntervals told("begin", "end");
  told.event(1, "end", 50);
  told.event(1, "begin", 100);
  told.event(1, "begin", 120);
  told.event(1, "end", 130);
  told.event(1, "begin", 140);
  const Json row = told.intervals.json().at("threads").at(0);
  EXPECT_EQ(row.at("time").at("total_ns"), 10.0);
  EXPECT_EQ(row.at("from_without_to"), 2);
  EXPECT_EQ(row.at("to_without_from"), 1);
}

TEST(TraceIntervals, OfOneTypeAreFromEachToTheNext) {
  ToldIntervals told("tick", "tick");
  for (const std::int64_t ns : {100, 110, 130}) told.event(1, "tick", ns);
  const Json row = told.intervals.json().at("threads").at(0);
  EXPECT_EQ(row.at("time").at("count"), 2);
  EXPECT_EQ(row.at("time").at("total_ns"), 30.0);
  EXPECT_EQ(row.at("from_without_to"), 0);
}

TEST(TraceIntervals, WithoutAPairHaveNoFigures) {
  ToldIntervals told("begin", "end");
  told.event(1, "begin", 100);
  EXPECT_TRUE(told.intervals.empty());
  EXPECT_TRUE(is_not_available(told.intervals.json().at("all").at("median_ns")));
}

TEST(TraceIntervals, WithAFieldAsKeyCrossThreadsAndProcesses) {
  ToldIntervals told("begin", "end", "address");
  told.event(1, "begin", 100, 7);
  told.event(2, "begin", 110, 8);
  told.event(3, "end", 150, 8, 2);
  told.event(1, "end", 190, 7);
  told.event(1, "end", 200, 9);
  const Json json = told.intervals.json();
  EXPECT_EQ(json.at("all").at("count"), 2);
  EXPECT_EQ(json.at("all").at("min_ns"), 40.0);
  EXPECT_EQ(json.at("all").at("max_ns"), 90.0);
  EXPECT_EQ(json.at("all").at("mean_ns"), 65.0);
  EXPECT_EQ(json.at("all").at("variance_ns2"), 2 * 25.0 * 25.0);
  // A time is of the thread in which it ended.
  EXPECT_EQ(json.at("threads").back().at("pid"), 2);
  EXPECT_EQ(json.at("threads").at(0).at("to_without_from"), 1);
}

TEST(TraceIntervals, OfAForkEndWithTheFirstEventOfTheChild) {
  ToldIntervals told("fork", "*", "address=pid");
  told.event(1, "fork", 100, 2);
  told.event(1, "other", 105);
  told.event(2, "first", 130, 0, 2);
  told.event(2, "second", 140, 0, 2);
  const Json json = told.intervals.json();
  EXPECT_EQ(json.at("all").at("count"), 1);
  EXPECT_EQ(json.at("all").at("total_ns"), 30.0);
  EXPECT_TRUE(is_not_available(json.at("threads").at(0).at("to_without_from")));
}

TEST(TraceIntervals, OfAnyEventsAreFromOneToTheNextWhoeverTheyAreOf) {
  ToldIntervals told("begin", "end", "any");
  told.event(1, "begin", 100);
  told.event(2, "end", 101, 0, 2);
  EXPECT_EQ(told.intervals.json().at("all").at("total_ns"), 1.0);
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
  const Json rows = histogram_json({0.5, 1, 1.9, 2, 4.9, 5, 120, 999});
  ASSERT_EQ(rows.size(), 9);
  EXPECT_EQ(rows.front().at("from_ns"), 0.0);
  double limit = 0;
  std::uint64_t times = 0;
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("from_ns"), limit);
    limit = row.at("to_ns");
    times += row.at("count").get<std::uint64_t>();
  }
  EXPECT_EQ(times, 8);
  EXPECT_EQ(limit, 1000.0);
  EXPECT_EQ(rows.at(1).at("count"), 2);  // 2 to 5
  EXPECT_TRUE(histogram_json({}).empty());
}

}  // namespace
}  // namespace zerotax::trace
