#include "base/paired_times.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/statistics.h"

namespace zerotax {
namespace {

using Kind = TimeVerdict::Kind;
const double kAlpha = CompareMethod{}.alpha;

/// Realistic noise of a machine: mostly small, with an occasional process that is disturbed. Both processes of a pair
/// are equally likely to be disturbed.
class Noise {
 public:
  Noise(std::uint64_t seed, double deviation) : random_(seed), deviation_(deviation) {}
  double cost() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    const double disturbed = random_.below(20) == 0 ? 3 * uniform() : 0;
    return deviation_ * (sum - 6) + disturbed * deviation_ * 4;
  }
  TimeSample sample(std::size_t pairs, double log_ratio) {
    TimeSample sample{{}, 1e6};
    for (std::size_t i = 0; i < pairs; ++i) sample.log_ratios.push_back(log_ratio + cost() - cost());
    return sample;
  }

 private:
  double uniform() { return static_cast<double>(random_.below(1'000'000)) / 1e6; }
  Random random_;
  double deviation_;
};

bool any(const std::vector<TimeVerdict>& verdicts, Kind kind) {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const auto& each) { return each.kind == kind; });
}

TEST(CompareTimes, EqualsHaveAFalseAlarmInAtMostOneComparisonOfAHundred) {
  for (const double deviation : {0.02, 0.2}) {
    Noise noise(7, deviation);
    constexpr int kComparisons = 2000;
    int alarms = 0;
    for (int run = 0; run < kComparisons; ++run) {
      std::vector<TimeSample> samples;
      samples.reserve(8);
      for (int point = 0; point < 8; ++point) samples.push_back(noise.sample(16, 0));
      const auto verdicts = judge_times(samples);
      if (any(verdicts, Kind::kFaster) || any(verdicts, Kind::kSlower)) ++alarms;
    }
    EXPECT_LE(alarms, kComparisons / 100) << deviation;
  }
}

TEST(CompareTimes, ADifferenceIsFoundWithItsSignAndItsSize) {
  Noise noise(3, 0.03);
  int found = 0;
  int inside = 0;
  constexpr int kComparisons = 200;
  for (int run = 0; run < kComparisons; ++run) {
    const auto verdicts = judge_times(
        {noise.sample(16, 0), noise.sample(16, std::log(1.25)), noise.sample(16, std::log(0.8)), noise.sample(16, 0)});
    if (verdicts[1].kind == Kind::kSlower && verdicts[2].kind == Kind::kFaster) ++found;
    if (verdicts[1].interval.low <= std::log(1.25) && std::log(1.25) <= verdicts[1].interval.high) ++inside;
    EXPECT_NE(verdicts[1].kind, Kind::kFaster);
    EXPECT_NE(verdicts[0].kind, Kind::kSlower);
  }
  EXPECT_GE(found, kComparisons * 95 / 100);
  EXPECT_GE(inside, kComparisons * 97 / 100);
}

TEST(CompareTimes, ASmallDifferenceIsNoneHoweverWellItIsProven) {
  TimeSample sample{{}, 1e6};
  for (int i = 0; i < 16; ++i) sample.log_ratios.push_back(0.02 + 0.0001 * i);
  const auto verdict = judge_times({sample}).front();
  EXPECT_GT(verdict.interval.low, 0);
  EXPECT_EQ(verdict.kind, Kind::kSame);
  sample.log_ratios.assign(16, 0.2);
  EXPECT_EQ(judge_times({sample}).front().kind, Kind::kSlower);
  // For an operation of 100 ns, the absolute noise band of 40 ns (two readings of the clock) exceeds the difference.
  sample.old_ns = 100;
  EXPECT_EQ(judge_times({sample}).front().kind, Kind::kSame);
}

TEST(CompareTimes, WhatIsTooNoisyIsAmbiguousNotSame) {
  Noise noise(5, 0.5);
  EXPECT_EQ(judge_times({noise.sample(16, 0)}).front().kind, Kind::kAmbiguous);
  EXPECT_EQ(judge_times({TimeSample{{0.5, 0.5, 0.5}, 1e6}}).front().kind, Kind::kAmbiguous)
      << "three pairs prove nothing";
  EXPECT_EQ(judge_times({TimeSample{}}).front().kind, Kind::kUnknown);
}

TEST(CompareTimes, HolmsStepsAreAsPublished) {
  // The exact p of the three samples is 2/2^16, 2/2^10 and about 1/3. The samples have 16 values of one sign, 10 values
  // of one sign, and values of both signs.
  const std::vector<double> undecided{1, -0.9, 0.8, -0.7, 0.6, -0.5, 0.45, 0.4};
  const std::vector<TimeSample> samples{
      {std::vector<double>(10, 0.5), 1e6}, {undecided, 1e6}, {std::vector<double>(16, 0.5), 1e6}};
  const auto verdicts = judge_times(samples);
  EXPECT_NEAR(verdicts[2].adjusted_p, 3 * 2 / 65536.0, 1e-12);
  EXPECT_NEAR(verdicts[0].adjusted_p, 2 * 2 / 1024.0, 1e-12);
  EXPECT_NEAR(verdicts[2].level, 1 - kAlpha / 3, 1e-12);
  EXPECT_NEAR(verdicts[0].level, 1 - kAlpha / 2, 1e-12);
  EXPECT_NEAR(verdicts[1].level, 1 - kAlpha, 1e-12);
  EXPECT_EQ(verdicts[0].kind, Kind::kSlower);
  EXPECT_EQ(verdicts[1].kind, Kind::kAmbiguous);
}

TEST(CompareTimes, TheFewestPairsAreThoseThatCanProveSomething) {
  for (const std::size_t points : {1U, 2U, 8U, 100U}) {
    const std::size_t fewest = fewest_pairs(points, kAlpha);
    const auto judged = [&](std::size_t pairs) {
      return judge_times(std::vector<TimeSample>(points, {std::vector<double>(pairs, 0.5), 1e6})).front().kind;
    };
    EXPECT_EQ(judged(fewest), Kind::kSlower) << points;
    EXPECT_NE(judged(fewest - 1), Kind::kSlower) << points;
  }
}

TEST(CompareTimes, ExchangingSidesAtRandomGivesTheRateByConstruction) {
  Noise noise(11, 0.1);
  std::vector<TimeSample> samples;
  samples.reserve(4);
  for (int point = 0; point < 4; ++point) samples.push_back(noise.sample(16, 1.0));
  const auto rate = false_alarm_rate(samples, 3000);
  ASSERT_TRUE(rate);
  EXPECT_GT(*rate, 0.0005)
      << "shuffled large differences exceed the noise band, so only the test can prevent false alarms";
  EXPECT_LE(*rate, kAlpha + 0.004) << "three standard deviations of 3,000";
  EXPECT_FALSE(false_alarm_rate({TimeSample{}}, 10));
}

TEST(CompareTimes, TheIntervalOfARateIsClopperAndPearsons) {
  EXPECT_NEAR(binomial_interval(0, 300).high, 1 - std::pow(0.025, 1 / 300.0), 1e-6);
  EXPECT_EQ(binomial_interval(0, 300).low, 0);
  // R: binom.test(3, 10): 0.06673951 to 0.65245285.
  EXPECT_NEAR(binomial_interval(3, 10).low, 0.06673951, 1e-6);
  EXPECT_NEAR(binomial_interval(3, 10).high, 0.65245285, 1e-6);
  EXPECT_EQ(binomial_interval(10, 10).high, 1);
}

}  // namespace
}  // namespace zerotax
