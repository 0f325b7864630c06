#include "baseline/lasting_changes.h"

#include <gtest/gtest.h>

namespace zerotax::baseline {
namespace {

Baseline baseline(std::int64_t zeroed, std::vector<BaselineThreshold> thresholds = {}) {
  Point point;
  point.case_name = "calloc_loop";
  point.size_bytes = 1 << 20;
  point.thread = "main";
  point[Metric::kZeroedBytes] = MetricValue::whole(zeroed);
  Baseline made;
  made.clock = ClockMode::kStopped;
  made.points = {point};
  made.thresholds = std::move(thresholds);
  return made;
}

Baseline with_the_real_clock(Baseline made) {
  made.clock = ClockMode::kReal;
  return made;
}

std::vector<BaselineThreshold> threshold(std::uint64_t size) { return {{size, {{"something"}}}}; }

/// An allocator whose zeroed bytes depend on the clock and on the number of earlier measurements.
struct Measured {
  std::function<std::int64_t(int times, const PointTime& time)> zeroed;
  int times = 0;
  std::vector<ClockMode> clocks = {};
  BaselineVerdict against(const Baseline& before) {
    return hold_against(before, [&](const BaselinePart& /*part*/, const PointTime& time) {
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
  EXPECT_TRUE(same.against(with_the_real_clock(baseline(5))).changes.empty());
  EXPECT_TRUE(same.against(baseline(5)).changes.empty());
  EXPECT_EQ(same.clocks, (std::vector{ClockMode::kReal, ClockMode::kStopped}));
}

TEST(LastingChanges, OfABaselineWithTheRealClockLeaveOutWhatAStoppedOrRacingClockExplains) {
  const Baseline before = with_the_real_clock(baseline(5));
  for (const ClockMode clock : {ClockMode::kStopped, ClockMode::kRacing}) {
    Measured by_clock{[clock](int, const PointTime& time) { return time.clock == clock ? 5 : 6; }};
    const BaselineVerdict verdict = by_clock.against(before);
    EXPECT_TRUE(verdict.changes.empty());
    EXPECT_EQ(verdict.by_the_clock.size(), 1U);
  }
}

TEST(LastingChanges, OfThresholdsAreNamedWithWhatTheyWere) {
  const BaselineVerdict verdict =
      hold_against(baseline(5, threshold(100)), [](const BaselinePart& part, const PointTime&) {
        if (!part.thresholds) {
          EXPECT_EQ(part.edges, (std::vector<std::uint64_t>{100, 101}));
          EXPECT_TRUE(part.points.empty());
        }
        return baseline(5, threshold(101));
      });
  ASSERT_EQ(verdict.changes.size(), 2U);
  EXPECT_EQ(verdict.changes[0].name, "the threshold at 100 bytes");
  EXPECT_EQ(verdict.changes[1].name, "the threshold at 101 bytes");
}

TEST(LastingChanges, AreLookedForInWhatTheBaselineHoldsOnly) {
  Baseline points_only = baseline(5);
  points_only.thresholds.reset();
  const BaselineVerdict verdict = hold_against(points_only, [](const BaselinePart& part, const PointTime&) {
    EXPECT_FALSE(part.thresholds);
    EXPECT_EQ(part.points.size(), 1U);
    Baseline measured = baseline(5);
    measured.thresholds.reset();
    return measured;
  });
  EXPECT_TRUE(verdict.changes.empty());
}

}  // namespace
}  // namespace zerotax::baseline
