#include "baseline/review.h"

#include <gtest/gtest.h>

#include <random>

#include "base/size.h"
#include "baseline/check_document.h"

namespace zerotax::baseline {
namespace {

using enum Metric;

/// The behavior of one point.
struct Doing {
  std::int64_t zeroed = 0;
  std::int64_t redundant = 0;
  std::int64_t populated = 0;
  std::int64_t faults = 0;
};

Point point_at(std::uint64_t size, double touch, const char* thread, const Doing& doing) {
  Point point;
  point.case_name = "calloc_loop";
  point.size_bytes = size;
  point.touch = touch;
  point.thread = thread;
  point[kZeroedBytes] = MetricValue::whole(doing.zeroed);
  point[kRedundantZeroedBytes] = MetricValue::whole(doing.redundant);
  point[kPopulatedBytes] = MetricValue::whole(doing.populated);
  point[kCallocFaults] = MetricValue::whole(doing.faults);
  point[kHome] = MetricValue::word("mapping");
  point[kFreeSyscalls] = MetricValue::calls({{"munmap", 1}});
  for (int call = 0; call < 2; ++call) {
    FirstOperation& first = point.first_ops.emplace_back();
    first[kZeroedBytes] = MetricValue::whole(doing.zeroed);
    first[kRedundantZeroedBytes] = MetricValue::whole(doing.redundant);
  }
  return point;
}

Doing nothing() { return {0, 0, 4096, 1}; }
Doing zeroing(std::uint64_t size) {
  const auto bytes = static_cast<std::int64_t>(size);
  return {bytes, bytes, bytes, bytes / 4096 + 1};
}

constexpr std::initializer_list<std::uint64_t> kSizes{64 * kKiB, kMiB, 20 * kMiB, 100 * kMiB};

/// Returns untouched points on both threads. At the sizes in `zeroed`, every calloc zeroes fresh memory.
Baseline measured(const std::vector<std::uint64_t>& zeroed,
                  const std::vector<const char*>& threads = {"main", "worker"}) {
  Baseline made;
  for (const std::uint64_t size : kSizes) {
    for (const char* thread : {"main", "worker"}) {
      const bool zeroes = std::find(zeroed.begin(), zeroed.end(), size) != zeroed.end() &&
                          std::find(threads.begin(), threads.end(), std::string_view(thread)) != threads.end();
      made.points.push_back(point_at(size, 0, thread, zeroes ? zeroing(size) : nothing()));
    }
  }
  made.thresholds.emplace();
  return made;
}

const BehaviourChanges kBegins{
    {"later callocs zero the whole block, needlessly (before: write no zeros)", Direction::kWorse}};

/// Reviews every difference between two measurements.
Review review_baselines(const Baseline& before, const Baseline& after) {
  std::vector<BaselineChange> changes = compare_baselines(before, after);
  for (BaselineChange& missing : points_not_measured(before, after)) changes.push_back(std::move(missing));
  return review_changes(before, after, std::move(changes));
}

void expect_each_change_in_one_group(const Review& review) {
  std::vector<int> groups(review.changes.size());
  for (const ReviewGroup& group : review.groups) {
    for (const std::size_t change : group.changes) ++groups.at(change);
  }
  EXPECT_EQ(groups, std::vector<int>(review.changes.size(), 1));
}

TEST(Review, OfWhatIsAsBeforeIsSame) {
  const Review review = review_baselines(measured({}), measured({}));
  EXPECT_EQ(review.verdict, Verdict::kSame);
  EXPECT_EQ(review.sentence, "same: 8 points and 0 thresholds as in the baseline");
}

TEST(Review, NamesKindDirectionAndRange) {
  const Review review = review_baselines(measured({}), measured({kMiB, 20 * kMiB}));
  EXPECT_EQ(review.verdict, Verdict::kWorse);
  EXPECT_EQ(review.sentence,
            "worse: every calloc from 1 MiB to 20 MiB now zeroes fresh memory: 1 → 5,121 faults at 20 MiB");
  ASSERT_EQ(review.groups.size(), 1U);
  EXPECT_EQ(review.groups[0].cause, Cause::kZeroesFresh);
  EXPECT_EQ(review.groups[0].ranges, (std::vector<ReviewRange>{{kMiB, 20 * kMiB, false, false}}));
  expect_each_change_in_one_group(review);
}

TEST(Review, OfTheOppositeIsBetter) {
  const Review review = review_baselines(measured({kMiB}), measured({}));
  EXPECT_EQ(review.sentence, "better: calloc of 1 MiB no longer zeroes fresh memory: 257 → 1 fault at 1 MiB");
}

TEST(Review, OfBothIsMixed) {
  const Review review = review_baselines(measured({kMiB}), measured({20 * kMiB}));
  EXPECT_EQ(review.verdict, Verdict::kMixed);
  EXPECT_EQ(review.sentence,
            "mixed: every calloc of 20 MiB now zeroes fresh memory: 1 → 5,121 faults at 20 MiB; but calloc of 1 MiB no "
            "longer zeroes fresh memory: 257 → 1 fault at 1 MiB");
}

TEST(Review, SaysWhichThreadAlone) {
  const Review review = review_baselines(measured({}), measured({kMiB}, {"worker"}));
  EXPECT_EQ(review.groups.at(0).thread, "worker");
  EXPECT_TRUE(review.sentence.starts_with("worse: on worker threads only, every calloc of 1 MiB")) << review.sentence;
}

TEST(Review, SaysWhichThreadAloneThoughAFewBytesChangedOnTheOther) {
  // The behavior of glibc 2.43. In a worker thread, the first call zeroes its block. In the main thread, the second
  // call zeroes a few more kilobytes.
  Baseline before = measured({});
  Baseline after = before;
  for (Point& point : after.points) {
    if (point.thread == "worker") {
      point.first_ops[0][kZeroedBytes] = point.first_ops[0][kRedundantZeroedBytes] =
          MetricValue::whole(static_cast<std::int64_t>(point.size_bytes));
    } else {
      point.first_ops[1][kZeroedBytes] = point.first_ops[1][kRedundantZeroedBytes] = MetricValue::whole(1000);
    }
  }
  const Review review = review_baselines(before, after);
  EXPECT_TRUE(review.sentence.starts_with("worse: on worker threads only, the first calloc of a thread from 64 KiB"))
      << review.sentence;
  expect_each_change_in_one_group(review);
}

TEST(Review, HasARangeForEachRunOfNeighbours) {
  const Review review = review_baselines(measured({}), measured({64 * kKiB, 20 * kMiB, 100 * kMiB}));
  EXPECT_EQ(review.groups.at(0).ranges,
            (std::vector<ReviewRange>{{64 * kKiB, 64 * kKiB, false, false}, {20 * kMiB, 100 * kMiB, false, false}}));
}

TEST(Review, IsSharpenedByThresholdsWhichBelongToTheGroup) {
  Baseline after = measured({20 * kMiB});
  after.thresholds = {{{4'000'001, kBegins}, {32 * kMiB, {{"later callocs write no zeros (before: …)"}}}}};
  const Review review = review_baselines(measured({}), after);
  ASSERT_EQ(review.groups.size(), 1U);
  EXPECT_EQ(review.groups[0].ranges, (std::vector<ReviewRange>{{4'000'001, 32 * kMiB - 1, true, true}}));
  EXPECT_EQ(review.groups[0].thresholds.size(), 2U);
  EXPECT_TRUE(review.sentence.starts_with("worse: every calloc from 4,000,001 bytes to just below 32 MiB now zeroes"));
  expect_each_change_in_one_group(review);
}

TEST(Review, OfAThresholdThatMovedSaysWhatMovedWithIt) {
  Baseline before = measured({100 * kMiB});
  Baseline after = measured({20 * kMiB, 100 * kMiB});
  before.thresholds = {{{32 * kMiB, kBegins}}};
  after.thresholds = {{{16 * kMiB, kBegins}}};
  const Review review = review_baselines(before, after);
  ASSERT_EQ(review.groups.size(), 1U);
  EXPECT_EQ(review.groups[0].cause, Cause::kThreshold);
  EXPECT_EQ(review.groups[0].thresholds, (std::vector<ReviewThreshold>{{32 * kMiB, 16 * kMiB}}));
  EXPECT_EQ(review.sentence,
            "worse: the threshold at 32 MiB moved to 16 MiB: every calloc from 16 MiB to just below 32 MiB now zeroes "
            "fresh memory: 1 → 5,121 faults at 20 MiB");
  expect_each_change_in_one_group(review);
}

TEST(Review, OfAThresholdThatMovedWhereNothingIsMeasuredSaysWhichWay) {
  Baseline before = measured({});
  Baseline after = measured({});
  before.thresholds = {{{3 * kMiB, kBegins}}};
  after.thresholds = {{{2 * kMiB, kBegins}}};
  const Review review = review_baselines(before, after);
  EXPECT_EQ(review.verdict, Verdict::kWorse);
  EXPECT_TRUE(review.sentence.starts_with("worse: the threshold at 3 MiB moved to 2 MiB: ")) << review.sentence;
  EXPECT_EQ(review_baselines(after, before).verdict, Verdict::kBetter);
  expect_each_change_in_one_group(review);
}

TEST(Review, OfAFailureThatBeginsAndEndsBetweenTwoMeasuredSizesHasItsRange) {
  Baseline after = measured({});
  after.thresholds = {{{2 * kMiB, {{"the point is crashed (before: ok)", Direction::kWorse, true}}},
                       {3 * kMiB, {{"the point is ok (before: crashed)", Direction::kBetter, true}}}}};
  const Review review = review_baselines(measured({}), after);
  EXPECT_EQ(review.verdict, Verdict::kFailed);
  EXPECT_EQ(
      review.sentence,
      "failed: there is a new threshold at 2 MiB: the point is crashed (before: ok); 1 other changed up to 3 MiB");
  ASSERT_EQ(review.groups.size(), 1U);
  EXPECT_EQ(review.groups[0].ranges, (std::vector<ReviewRange>{{2 * kMiB, 3 * kMiB - 1, true, true}}));
}

TEST(Review, OfABrokenPromiseIsFailedWhateverElseImproved) {
  Baseline after = measured({});
  after.points[2].status = PointStatus::kNotZero;
  const Review review = review_baselines(measured({20 * kMiB}), after);
  EXPECT_EQ(review.verdict, Verdict::kFailed);
  EXPECT_EQ(review.groups.front().cause, Cause::kNotZero);
  EXPECT_TRUE(
      review.sentence.starts_with("failed: on the main thread only, calloc of 1 MiB now hands out dirty memory"))
      << review.sentence;
  expect_each_change_in_one_group(review);
}

TEST(Review, OfOtherWordsAloneIsNeitherBetterNorWorse) {
  Baseline after = measured({});
  for (Point& point : after.points) point[kHome] = MetricValue::word("arena");
  const Review review = review_baselines(measured({}), after);
  EXPECT_EQ(review.verdict, Verdict::kChanged);
  EXPECT_EQ(review.groups.at(0).direction, Direction::kNeither);
}

TEST(Review, DoesNotHideAWorseMetricBehindAnImprovement) {
  Baseline after = measured({});
  for (Point& point : after.points) {
    point[kZeroedInFreeBytes] = MetricValue::whole(static_cast<std::int64_t>(point.size_bytes / 4));
  }
  Baseline before = measured({20 * kMiB});
  for (Point& point : before.points) point[kZeroedInFreeBytes] = MetricValue::whole(0);
  const Review review = review_baselines(before, after);
  EXPECT_EQ(review.verdict, Verdict::kMixed);
  expect_each_change_in_one_group(review);
}

TEST(Review, OfAPartOfTheDifferencesIsNotJudgedByTheOthers) {
  Baseline after = measured({kMiB});
  for (Point& point : after.points) point[kHome] = MetricValue::word("arena");
  std::vector<BaselineChange> lasting = compare_baselines(measured({}), after);
  std::erase_if(lasting, [](const BaselineChange& change) { return change.metric != kHome; });
  EXPECT_EQ(review_changes(measured({}), after, lasting).verdict, Verdict::kChanged);
}

TEST(Review, NamesPointsThatAreNotMeasuredAnyMore) {
  Baseline after = measured({});
  after.points.erase(after.points.begin());
  const Review review = review_baselines(measured({}), after);
  ASSERT_EQ(review.groups.size(), 1U);
  EXPECT_EQ(review.groups[0].cause, Cause::kNotMeasured);
}

/// Changes any metric of any point, a status, and thresholds, at random.
Baseline spoiled(Baseline baseline, std::mt19937& random) {
  const auto roll = [&](unsigned sides) { return static_cast<unsigned>(random() % sides); };
  for (Point& point : baseline.points) {
    const auto value = [&] { return MetricValue::whole(static_cast<std::int64_t>(roll(3) * point.size_bytes / 2)); };
    for (const Metric metric : {kZeroedBytes, kRedundantZeroedBytes, kPopulatedBytes, kCallocFaults}) {
      if (roll(4) == 0) point[metric] = value();
    }
    if (roll(6) == 0) point[kFreeSyscalls] = MetricValue::calls({{"madvise", 1 + roll(2)}});
    if (roll(6) == 0) point[kHome] = MetricValue::word("heap");
    if (roll(10) == 0) point.status = PointStatus::kCrashed;
    if (roll(4) == 0) point.first_ops[roll(2)][kRedundantZeroedBytes] = value();
  }
  for (unsigned i = 0; i < roll(4); ++i) baseline.thresholds->push_back({(40 + 30'000 * i + roll(5)) * kKiB, kBegins});
  return baseline;
}

TEST(Review, PutsEveryChangeIntoExactlyOneGroupWithASentence) {
  std::mt19937 random(20);
  for (int times = 0; times < 300; ++times) {
    const Baseline before = spoiled(measured({kMiB}), random);
    const Review review = review_baselines(before, spoiled(measured({20 * kMiB}), random));
    expect_each_change_in_one_group(review);
    EXPECT_EQ(review.changes.empty(), review.verdict == Verdict::kSame);
    for (const ReviewGroup& group : review.groups) {
      EXPECT_FALSE(group.sentence.empty() || group.title.empty() || group.changes.empty());
      EXPECT_TRUE(group.cause == Cause::kThreshold || group.cause == Cause::kFails || !group.ranges.empty());
    }
  }
}

AllocatorCheck result_of(Review review) {
  AllocatorCheck result;
  result.allocator = {"mine", "/p", {}, {}, "1"};
  result.baseline.allocator = "mine";
  result.baseline.version = std::string("1");
  result.verdict = review.verdict;
  result.sentence = review.sentence;
  result.review = std::move(review);
  return result;
}

TEST(CheckDocument, PassesWithImprovementsUnlessItIsStrict) {
  const Review better = review_baselines(measured({kMiB}), measured({}));
  EXPECT_TRUE(checks_of({result_of(better)}, false).passed);
  EXPECT_FALSE(checks_of({result_of(better)}, true).passed);
  const Review worse = review_baselines(measured({}), measured({kMiB}));
  EXPECT_FALSE(checks_of({result_of(worse)}, false).passed);
}

TEST(CheckDocument, OfSeveralAllocatorsSaysWhichDiffer) {
  const AllocatorChecks check = checks_of({result_of(review_baselines(measured({}), measured({}))),
                                           result_of(review_baselines(measured({}), measured({kMiB})))},
                                          false);
  EXPECT_EQ(check.verdict, Verdict::kWorse);
  EXPECT_EQ(check.sentence, "worse: 1 of 2 allocators differs from their baselines: mine");
  EXPECT_EQ(Json(check_document(check))["verdict"], "worse");
}

/// Returns the measurement with different zeroed bytes in the steady state at one size.
Baseline with_zeroed(Baseline made, std::uint64_t size, std::int64_t bytes) {
  for (Point& point : made.points) {
    if (point.size_bytes == size) point[kZeroedBytes] = MetricValue::whole(bytes);
  }
  return made;
}

TEST(Review, AHeaderMoreOrLessIsNoChange) {
  const Baseline before = with_zeroed(with_zeroed(measured({}), kMiB, 1'048'584), 20 * kMiB, 0);
  const Baseline after = with_zeroed(with_zeroed(measured({}), kMiB, 1'048'576), 20 * kMiB, 256 * kKiB);
  const Review review = review_baselines(before, after);
  EXPECT_EQ(review.verdict, Verdict::kSame) << review.sentence;
  EXPECT_EQ(review.too_small.size(), 4U);
  EXPECT_TRUE(review.changes.empty());
}

TEST(Review, MoreThanATenthOfTheBlockIsAChange) {
  const Review review = review_baselines(measured({}), with_zeroed(measured({}), kMiB, kMiB / 10 + 8));
  EXPECT_EQ(review.verdict, Verdict::kWorse) << review.sentence;
  EXPECT_TRUE(review.too_small.empty());
}

TEST(Review, MoreThan256KiBOfZeroingIsAChangeOfEveryBlock) {
  const auto verdict_of = [](Metric metric, std::int64_t bytes) {
    Baseline before = measured({});
    Baseline after = measured({});
    for (Point& point : before.points) point[metric] = MetricValue::whole(0);
    for (Point& point : after.points) point[metric] = MetricValue::whole(point.size_bytes == 100 * kMiB ? bytes : 0);
    return review_baselines(before, after).verdict;
  };
  for (const Metric metric : {kZeroedBytes, kRedundantZeroedBytes, kZeroedInFreeBytes, kRedundantZeroedInFreeBytes}) {
    EXPECT_EQ(verdict_of(metric, 256 * kKiB), Verdict::kSame) << row_of(metric).key;
    EXPECT_EQ(verdict_of(metric, 256 * kKiB + 8), Verdict::kWorse) << row_of(metric).key;
  }
  for (const Metric metric : {kPopulatedBytes, kKernelZeroedBytes, kReturnedBytes}) {
    EXPECT_EQ(verdict_of(metric, 10 * kMiB), Verdict::kSame) << row_of(metric).key;
    EXPECT_EQ(verdict_of(metric, 10 * kMiB + 8), Verdict::kWorse) << row_of(metric).key;
  }
}

TEST(Review, AFewFaultsMoreAreAChangeOnlyOfASmallBlock) {
  const auto one_more = [](std::uint64_t size, std::int64_t faults) {
    Baseline after = measured({});
    for (Point& point : after.points) {
      if (point.size_bytes == size) point[kCallocFaults] = MetricValue::whole(1 + faults);
    }
    return review_baselines(measured({}), after).verdict;
  };
  EXPECT_EQ(one_more(kMiB, 1), Verdict::kSame);
  EXPECT_EQ(one_more(kMiB, 9), Verdict::kWorse);
  EXPECT_EQ(one_more(64 * kKiB, 2), Verdict::kWorse);
  EXPECT_EQ(one_more(20 * kMiB, 2), Verdict::kWorse) << "each fault may populate a huge page";
}

TEST(Review, WhatIsTooSmallGoesWithTheChangeOfItsPoint) {
  Baseline after = measured({kMiB});
  for (Point& point : after.points) {
    if (point.size_bytes == kMiB) point[kReturnedBytes] = MetricValue::whole(0);
  }
  Baseline before = measured({});
  for (Point& point : before.points) {
    if (point.size_bytes == kMiB) point[kReturnedBytes] = MetricValue::whole(4096);
  }
  const Review review = review_baselines(before, after);
  EXPECT_EQ(review.verdict, Verdict::kWorse) << review.sentence;
  expect_each_change_in_one_group(review);
}

}  // namespace
}  // namespace zerotax::baseline
