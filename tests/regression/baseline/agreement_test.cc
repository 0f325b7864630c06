
#include <gtest/gtest.h>

#include "baseline/document.h"
#include "baseline/lasting_changes.h"
#include "baseline/table.h"

namespace zerotax::baseline {
namespace {

Baseline run(std::int64_t zeroed, SystemCalls calls = {}, const char* home = "arena",
             std::vector<BaselineThreshold> thresholds = {}) {
  Point point;
  point.case_name = "calloc_loop";
  point.size_bytes = 1 << 20;
  point.thread = "main";
  point[Metric::kZeroedBytes] = MetricValue::whole(zeroed);
  point[Metric::kFreeSyscalls] = MetricValue::calls(std::move(calls));
  point[Metric::kHome] = MetricValue::word(home);
  Baseline made;
  made.allocator = "mine";
  made.version = std::string("1");
  made.measured_on = {};
  made.clock = ClockMode::kStopped;
  made.points = {point};
  made.thresholds = std::move(thresholds);
  return made;
}

std::vector<BaselineThreshold> sighted(std::uint64_t at, const char* change = "something") {
  return {{at, {{change}}}};
}

TEST(Gather, HoldsWhatIsTheSameEachTime) {
  const Baseline agreed = agreed_baseline({run(5), run(5)}, {run(5)});
  EXPECT_EQ(agreed.points[0].count(Metric::kZeroedBytes), 5);
  EXPECT_TRUE(agreed.ranges.empty());
  EXPECT_EQ(unsteady_text(agreed), "");
}

TEST(Gather, HoldsTheRangeOfWhatDiffers) {
  const Baseline agreed = agreed_baseline({run(5), run(9), run(7)}, {run(4)});
  EXPECT_EQ(agreed.points[0].why_not(Metric::kZeroedBytes), kNotTheSame);
  ASSERT_EQ(agreed.ranges.size(), 1U);
  EXPECT_EQ(words_of(agreed.ranges[0]), "4 to 9");
  EXPECT_EQ(agreed.ranges[0].runs, 4U);
  EXPECT_NE(unsteady_text(agreed).find("calloc_loop 1 MiB touch 0 main, zeroed_bytes: 4 to 9"), std::string::npos);
  for (const std::int64_t inside : {4, 6, 9}) EXPECT_TRUE(compare_baselines(agreed, run(inside)).empty()) << inside;
  const auto more = compare_baselines(agreed, run(10));
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].line, "calloc_loop 1 MiB touch 0 main, zeroed_bytes: before 4 to 9 in 4 runs, now 10");
  EXPECT_EQ(more[0].before.count(), 9);
  const auto fewer = compare_baselines(agreed, run(1));
  ASSERT_EQ(fewer.size(), 1U);
  EXPECT_EQ(fewer[0].before.count(), 4);
  EXPECT_TRUE(compare_baselines(agreed, run(1), {{Metric::kZeroedBytes, {3, false}}}).empty()) << "within a tolerance";
}

TEST(Gather, HoldsTheRangeOfEachSystemCall) {
  const Baseline agreed = agreed_baseline({run(5, {{"madvise", 3}}), run(5, {{"munmap", 1}})});
  EXPECT_TRUE(compare_baselines(agreed, run(5, {{"madvise", 2}, {"munmap", 1}})).empty());
  EXPECT_TRUE(compare_baselines(agreed, run(5)).empty());
  const auto changes = compare_baselines(agreed, run(5, {{"madvise", 4}, {"brk", 1}}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].ways, (std::vector<std::string>{"brk +", "madvise +"}));
}

TEST(Gather, HoldsAllWordsThatWereSeen) {
  const Baseline agreed = agreed_baseline({run(5, {}, "arena"), run(5, {}, "mapping")});
  EXPECT_TRUE(compare_baselines(agreed, run(5, {}, "arena")).empty());
  EXPECT_TRUE(compare_baselines(agreed, run(5, {}, "mapping")).empty());
  EXPECT_EQ(compare_baselines(agreed, run(5, {}, "heap")).size(), 1U);
}

TEST(Gather, LeavesOutWhatOnlyPausesChange) {
  const Baseline agreed = agreed_baseline({run(5), run(5)}, {run(9), run(8)});
  EXPECT_EQ(agreed.points[0].why_not(Metric::kZeroedBytes), kByAClock);
  EXPECT_TRUE(agreed.ranges.empty());
  EXPECT_NE(unsteady_text(agreed).find("left out, depends on a clock"), std::string::npos);
  EXPECT_EQ(agreed_baseline({run(5), run(5)}, {run(9), run(5)}).ranges.size(), 1U)
      << "a difference in only some runs is chance";
}

TEST(Gather, AThresholdOnWhichRunsDisagreeIsNeitherNewNorGone) {
  const Baseline agreed =
      agreed_baseline({run(5, {}, "arena", sighted(100)), run(5, {}, "arena", sighted(120)), run(5)});
  EXPECT_TRUE(agreed.thresholds->empty());
  ASSERT_EQ(agreed.uncertain.size(), 1U) << "the same change, elsewhere";
  EXPECT_EQ(name_of(agreed.uncertain[0]), "a threshold between 100 and 120 bytes");
  EXPECT_EQ(agreed.uncertain[0].seen, 2U);
  EXPECT_EQ(agreed.uncertain[0].looks, 3U);
  for (const std::uint64_t at : {100U, 110U, 120U}) {
    EXPECT_TRUE(compare_baselines(agreed, run(5, {}, "arena", sighted(at))).empty()) << at;
  }
  EXPECT_TRUE(compare_baselines(agreed, run(5)).empty());
  EXPECT_EQ(compare_baselines(agreed, run(5, {}, "arena", sighted(121))).size(), 1U);
  const auto named = metrics_not_compared(agreed, run(5));
  EXPECT_TRUE(std::any_of(named.begin(), named.end(), [](const NotCompared& each) {
    return each.name == "a threshold between 100 and 120 bytes" && each.why == "uncertain in the baseline";
  }));
}

TEST(Gather, AThresholdThatMeansSomethingElseInEachRunIsUncertain) {
  const Baseline agreed =
      agreed_baseline({run(5, {}, "arena", sighted(100, "this")), run(5, {}, "arena", sighted(100, "that"))});
  ASSERT_EQ(agreed.uncertain.size(), 1U);
  EXPECT_EQ(agreed.uncertain[0].changes, (BehaviourChanges{{"this"}, {"that"}}));
  EXPECT_TRUE(compare_baselines(agreed, run(5, {}, "arena", sighted(100, "those"))).empty());
}

TEST(Gather, IsReadAgainAsItWasWritten) {
  const Baseline agreed =
      agreed_baseline({run(5, {{"madvise", 3}}, "arena", sighted(100)), run(6, {}, "mapping", sighted(101))});
  const Json json = to_json(agreed);
  const Baseline read = baseline_from_json(json);
  EXPECT_EQ(read.ranges, agreed.ranges);
  EXPECT_EQ(read.uncertain, agreed.uncertain);
  Json old = json;
  old.erase("ranges");
  old.erase("uncertain_thresholds");
  EXPECT_TRUE(baseline_from_json(old).ranges.empty()) << "of an earlier version";
  Json damaged = json;
  damaged["ranges"][0]["metric"] = "none";
  EXPECT_THROW(baseline_from_json(damaged), std::invalid_argument);
}

/// Returns the verdict of a check whose measurements differ from each other.
BaselineVerdict checked(const Baseline& baseline, const std::function<Baseline(int times, bool busy)>& measure) {
  int times = 0;
  return hold_against(baseline,
                      [&](const BaselinePart& part, const PointTime&) { return measure(times++, part.busy); });
}

TEST(Gather, AnAlarmTakesARangeLeftOnTheSameSideEachTime) {
  const Baseline agreed = agreed_baseline({run(5), run(9)});
  const BaselineVerdict more = checked(agreed, [](int, bool) { return run(10); });
  ASSERT_EQ(more.changes.size(), 1U);
  EXPECT_TRUE(more.unsteady.empty());
  const BaselineVerdict around = checked(agreed, [](int times, bool) { return run(times % 2 == 0 ? 10 : 1); });
  EXPECT_TRUE(around.changes.empty());
  EXPECT_EQ(around.unsteady.size(), 1U);
}

TEST(Gather, AnAlarmTakesTenMeasurementsSomeOfThemBesideBusyThreads) {
  int all = 0;
  int busy = 0;
  const BaselineVerdict lasting = checked(run(5), [&](int, bool is_busy) {
    ++all;
    busy += is_busy ? 1 : 0;
    return run(6);
  });
  EXPECT_EQ(lasting.changes.size(), 1U);
  EXPECT_EQ(all, kTimesProven);
  EXPECT_GE(busy, 3);
  EXPECT_TRUE(checked(run(5), [](int times, bool) { return run(times == kTimesProven - 1 ? 5 : 6); }).changes.empty());
  EXPECT_TRUE(checked(run(5), [](int, bool is_busy) { return run(is_busy ? 5 : 6); }).changes.empty()) << "by load";
}

}  // namespace
}  // namespace zerotax::baseline
