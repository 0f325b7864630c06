#include <gtest/gtest.h>

#include "trace/intervals.h"

namespace zerotax::trace {
namespace {

/// Events of threads of one process, as a trace would tell of them.
class ToldIntervals {
 public:
  explicit ToldIntervals(const char* from, const char* to) : intervals(from, to) {}
  void event(pid_t tid, const char* name, std::int64_t ns) {
    CtfType type;
    type.name = name;
    CtfEvent event;
    event.pid = 1;
    event.tid = tid;
    event.type = &type;
    event.monotonic_ns = ns;
    intervals.add(event);
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

}  // namespace
}  // namespace zerotax::trace
