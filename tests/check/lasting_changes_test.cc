#include "check/lasting_changes.h"

#include <gtest/gtest.h>

namespace zerotax::check {
namespace {

const Json kPoint{{"case", "calloc_loop"}, {"size_bytes", 1 << 20}, {"touch", 0.0}, {"thread", "main"}};

Json baseline(std::uint64_t zeroed, const Json& thresholds = Json::array()) {
  Json point = kPoint;
  point["zeroed_bytes"] = zeroed;
  point["first_ops"] = Json::array();
  return Json{{"conditions", {{"clock", "stopped"}}}, {"points", {point}}, {"thresholds", thresholds}};
}

Json threshold(std::uint64_t size) { return Json::array({{{"at_bytes", size}, {"changes", {"something"}}}}); }

/// An allocator whose zeroed bytes depend on how often it was measured and on the clock.
struct Measured {
  std::function<std::uint64_t(int times, const PointTime& time)> zeroed;
  int times = 0;
  std::vector<ClockMode> clocks = {};
  BaselineVerdict against(const Json& before) {
    return hold_against(before, [&](const BaselinePart* /*part*/, const PointTime& time) {
      clocks.push_back(time.clock);
      return baseline(zeroed(times++, time));
    });
  }
};

TEST(LastingChanges, AreNoneWhereNothingChanged) {
  Measured same{[](int, const PointTime&) { return 5; }};
  const BaselineVerdict verdict = same.against(baseline(5));
  EXPECT_TRUE(verdict.changes.empty() && verdict.unsteady.empty() && verdict.by_the_clock.empty());
  EXPECT_EQ(same.times, 1) << "nothing to measure again";
}

TEST(LastingChanges, AreThoseThatAreThereEachTimeWhateverTheValue) {
  Measured changed{[](int times, const PointTime&) { return 6 + times % 2; }};
  const BaselineVerdict verdict = changed.against(baseline(5));
  ASSERT_EQ(verdict.changes.size(), 1U);
  EXPECT_EQ(verdict.changes[0].line, "calloc_loop 1 MiB touch 0 main, zeroed_bytes: before 5, now 6");
}

TEST(LastingChanges, LeaveOutWhatIsAsBeforeOnce) {
  Measured flickers{[](int times, const PointTime&) { return times == kTimesChanged - 1 ? 5 : 6; }};
  const BaselineVerdict verdict = flickers.against(baseline(5));
  EXPECT_TRUE(verdict.changes.empty());
  EXPECT_EQ(verdict.unsteady, std::vector<std::string>{"calloc_loop 1 MiB touch 0 main, zeroed_bytes"});
}

TEST(LastingChanges, LeaveOutWhatPausesExplain) {
  Measured by_counter{[](int, const PointTime& time) { return time.pause_ns > 0 ? 5 : 6; }};
  const BaselineVerdict verdict = by_counter.against(baseline(5));
  EXPECT_TRUE(verdict.changes.empty());
  EXPECT_EQ(verdict.by_the_clock, std::vector<std::string>{"calloc_loop 1 MiB touch 0 main, zeroed_bytes"});
}

TEST(LastingChanges, AreMeasuredWithTheClockOfTheBaseline) {
  Measured same{[](int, const PointTime&) { return 5; }};
  Json real = baseline(5);
  real.erase("conditions");
  EXPECT_TRUE(same.against(real).changes.empty());
  EXPECT_TRUE(same.against(baseline(5)).changes.empty());
  EXPECT_EQ(same.clocks, (std::vector{ClockMode::kReal, ClockMode::kStopped}));
}

TEST(LastingChanges, OfABaselineWithTheRealClockLeaveOutWhatAStoppedOrRacingClockExplains) {
  Json before = baseline(5);
  before.erase("conditions");
  for (const ClockMode clock : {ClockMode::kStopped, ClockMode::kRacing}) {
    Measured by_clock{[clock](int, const PointTime& time) { return time.clock == clock ? 5 : 6; }};
    const BaselineVerdict verdict = by_clock.against(before);
    EXPECT_TRUE(verdict.changes.empty());
    EXPECT_EQ(verdict.by_the_clock.size(), 1U);
  }
}

TEST(LastingChanges, OfThresholdsAreNamedWithWhatTheyWere) {
  const BaselineVerdict verdict =
      hold_against(baseline(5, threshold(100)), [](const BaselinePart* part, const PointTime&) {
        if (!part->thresholds) {
          EXPECT_EQ(part->edges, (std::vector<std::uint64_t>{100, 101}));
          EXPECT_TRUE(part->points.empty());
        }
        return baseline(5, threshold(101));
      });
  ASSERT_EQ(verdict.changes.size(), 2U);
  EXPECT_EQ(verdict.changes[0].name, "the threshold at 100 bytes");
  EXPECT_EQ(verdict.changes[1].name, "the threshold at 101 bytes");
}

TEST(LastingChanges, AreLookedForInWhatTheBaselineHoldsOnly) {
  Json points_only = baseline(5);
  points_only.erase("thresholds");
  const BaselineVerdict verdict = hold_against(points_only, [](const BaselinePart* part, const PointTime&) {
    EXPECT_FALSE(part->thresholds);
    EXPECT_EQ(part->points.size(), 1U);
    Json measured = baseline(5);
    measured.erase("thresholds");
    return measured;
  });
  EXPECT_TRUE(verdict.changes.empty());
}

}  // namespace
}  // namespace zerotax::check
