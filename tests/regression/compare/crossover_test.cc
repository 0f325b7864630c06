// Tests crossings of known curves with known noise.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

#include "compare/along.h"

namespace zerotax::compare {
namespace {

using CostCurve = std::function<double(double at)>;

constexpr int kSets = 100;
constexpr std::size_t kPairs = 9;
/// Tests with many data sets use fewer resamples, so that the tests end in time even under a sanitizer.
const CrossoverMethod kQuick{400};

/// Returns a normally distributed number by the method of Box and Muller, the same on every machine.
double normal(Random& random) {
  const double u = (static_cast<double>(random.next() >> 11) + 0.5) / 9007199254740992.0;
  const double v = (static_cast<double>(random.next() >> 11) + 0.5) / 9007199254740992.0;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

/// Returns pairs of processes. Each cost is the curve's value at its place, times log-normal noise with this standard
/// deviation.
std::vector<PairedSample> observe(const std::vector<double>& places, const CostCurve& a, const CostCurve& b,
                                  double noise, std::uint64_t seed, std::size_t pairs = kPairs) {
  Random random(seed);
  std::vector<PairedSample> samples;
  for (const double at : places) {
    PairedSample sample{at, {}};
    for (std::size_t i = 0; i < pairs; ++i) {
      sample.log_ratios.push_back(std::log(a(at) / b(at)) + noise * (normal(random) - normal(random)));
    }
    samples.push_back(sample);
  }
  return samples;
}

/// Returns sizes from 64 KiB to 256 MiB, two per octave.
std::vector<double> sizes() {
  std::vector<double> grid;
  for (int step = 0; step <= 24; ++step) grid.push_back(65'536 * std::exp2(step / 2.0));
  return grid;
}

double flat(double) { return 50'000; }
double line(double size) { return 2'000 + 0.01 * size; }
constexpr double kLineMeetsFlat = 4'800'000;

/// Returns a curve that is above `flat` only in the middle.
double hump(double size) {
  const double octaves = std::log2(size / (4.0 * 1024 * 1024));
  return 50'000 * std::exp2(1 - octaves * octaves / 9);
}

bool within(const Interval& interval, double at) { return at >= interval.low && at <= interval.high; }

TEST(Crossover, WithoutNoiseItIsExactWithinTheErrorOfInterpolation) {
  const Crossover found = find_crossover(observe(sizes(), line, flat, 0, 1), Axis::kLogarithmic);
  ASSERT_EQ(found.crossings.size(), 1U);
  const Crossing& crossing = found.crossings[0];
  EXPECT_NEAR(crossing.at / kLineMeetsFlat, 1, 0.02);
  EXPECT_TRUE(crossing.certain);
  EXPECT_FALSE(crossing.jump);
  EXPECT_EQ(crossing.share, 1);
  EXPECT_DOUBLE_EQ(crossing.interval.low, crossing.at);
  EXPECT_DOUBLE_EQ(crossing.interval.high, crossing.at);
  EXPECT_LT(crossing.bracket.low, kLineMeetsFlat);
  EXPECT_GT(crossing.bracket.high, kLineMeetsFlat);
  EXPECT_LT(crossing.log_ratio_before, 0);
  EXPECT_GT(crossing.log_ratio_after, 0);
  ASSERT_EQ(found.stretches.size(), 2U);
  EXPECT_EQ(found.stretches[0].sign, -1);
  EXPECT_EQ(found.stretches[1].sign, 1);
  EXPECT_DOUBLE_EQ(found.stretches[0].to, crossing.at);
  EXPECT_DOUBLE_EQ(found.stretches[1].from, crossing.at);
  EXPECT_DOUBLE_EQ(found.stretches[0].log_ratio_from, std::log(line(65'536) / flat(0)));
}

TEST(Crossover, ALogRatioThatIsALineIsMetExactly) {
  const auto power = [](double size) { return 50'000 * std::sqrt(size / 3e6); };
  const Crossover found = find_crossover(observe(sizes(), power, flat, 0, 1), Axis::kLogarithmic);
  ASSERT_EQ(found.crossings.size(), 1U);
  EXPECT_NEAR(found.crossings[0].at, 3e6, 1);
}

TEST(Crossover, OfTouchedFractionsIsInterpolatedLinearlyFromZeroOn) {
  const std::vector<double> fractions{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1};
  const auto mapped_anew = [](double touch) { return 10'000 + 800'000 * touch; };
  const auto cleared = [](double touch) { return 150'000 + 100'000 * touch; };
  const Crossover found = find_crossover(observe(fractions, mapped_anew, cleared, 0.02, 3), Axis::kLinear);
  ASSERT_EQ(found.crossings.size(), 1U);
  EXPECT_TRUE(found.crossings[0].certain);
  // The fraction is 140/700. Between 0.1 and 0.3, the ratio is not a straight line.
  EXPECT_NEAR(found.crossings[0].at, 0.2, 0.04);
}

/// Returns the number of data sets in which the crossing is certain, and the true crossing lies in its interval, after
/// this many refinements.
int covered(double noise, double at, const CostCurve& a, unsigned refinements) {
  int hits = 0;
  for (unsigned set = 0; set < kSets; ++set) {
    auto samples = observe(sizes(), a, flat, noise, 1000 + set);
    Crossover found = find_crossover(samples, Axis::kLogarithmic, kQuick);
    for (unsigned pass = 1; pass <= refinements && found.crossings.size() == 1; ++pass) {
      const auto added = refine_bracket(found, found.crossings[0], Axis::kLogarithmic, 3);
      for (PairedSample& sample : observe(added, a, flat, noise, 1000 * pass + 5000 + set)) samples.push_back(sample);
      found = find_crossover(samples, Axis::kLogarithmic, kQuick);
    }
    if (found.crossings.size() == 1 && found.crossings[0].certain && within(found.crossings[0].interval, at)) ++hits;
  }
  return hits;
}

TEST(Crossover, TheIntervalCoversTheTruth) {
  for (const double noise : {0.05, 0.20}) {
    for (const unsigned refinements : {0U, 2U}) {
      const int hits = covered(noise, kLineMeetsFlat, line, refinements);
      RecordProperty(fmt::format("covered_{}_{}", noise, refinements), hits);
      EXPECT_GE(hits, 88) << "noise " << noise << ", " << refinements << " refinements";
    }
  }
}

TEST(Crossover, RefiningMakesTheIntervalNarrower) {
  double before = 0;
  double after = 0;
  for (unsigned set = 0; set < 20; ++set) {
    auto samples = observe(sizes(), line, flat, 0.05, 50 + set);
    const Crossover coarse = find_crossover(samples, Axis::kLogarithmic);
    ASSERT_EQ(coarse.crossings.size(), 1U);
    const auto added = refine_bracket(coarse, coarse.crossings[0], Axis::kLogarithmic, 4);
    ASSERT_EQ(added.size(), 4U);
    for (PairedSample& sample : observe(added, line, flat, 0.05, 500 + set)) samples.push_back(sample);
    const Crossover fine = find_crossover(samples, Axis::kLogarithmic);
    ASSERT_EQ(fine.crossings.size(), 1U);
    before += std::log(coarse.crossings[0].interval.high / coarse.crossings[0].interval.low);
    after += std::log(fine.crossings[0].interval.high / fine.crossings[0].interval.low);
  }
  EXPECT_LT(after, before);
}

TEST(Crossover, TwoCrossingsAreTwo) {
  for (const double noise : {0.0, 0.05}) {
    const Crossover found = find_crossover(observe(sizes(), hump, flat, noise, 7), Axis::kLogarithmic);
    ASSERT_EQ(found.crossings.size(), 2U);
    const double tolerance = noise > 0 ? 0.15 : 0.02;
    EXPECT_NEAR(found.crossings[0].at / (512.0 * 1024), 1, tolerance);
    EXPECT_NEAR(found.crossings[1].at / (32.0 * 1024 * 1024), 1, tolerance);
    ASSERT_EQ(found.stretches.size(), 3U);
    EXPECT_EQ(found.stretches[1].sign, 1);
    for (const Crossing& crossing : found.crossings) EXPECT_TRUE(crossing.certain);
  }
}

TEST(Crossover, WhereOneIsCheaperEverywhereThereIsNone) {
  const auto twice = [](double size) { return 2 * line(size); };
  const Crossover found = find_crossover(observe(sizes(), twice, line, 0.05, 11), Axis::kLogarithmic);
  EXPECT_TRUE(found.crossings.empty());
  ASSERT_EQ(found.stretches.size(), 1U);
  EXPECT_EQ(found.stretches[0].sign, 1);
  EXPECT_TRUE(found.stretches[0].clear);
  EXPECT_NEAR(found.stretches[0].log_ratios.low, std::log(2), 0.2);
  EXPECT_NEAR(found.stretches[0].log_ratios.high, std::log(2), 0.2);
}

TEST(Crossover, TouchingIsNoCrossing) {
  const std::vector<double> places{1, 2, 3, 4, 5};
  const auto dip = [](double at) { return 1 + std::abs(at - 3); };
  const auto one = [](double) { return 1.0; };
  EXPECT_TRUE(find_crossover(observe(places, dip, one, 0, 1), Axis::kLinear).crossings.empty());
  int certain = 0;
  for (unsigned set = 0; set < 20; ++set) {
    for (const Crossing& crossing : find_crossover(observe(places, dip, one, 0.05, set), Axis::kLinear).crossings) {
      if (crossing.certain) ++certain;
    }
  }
  EXPECT_EQ(certain, 0);
}

TEST(Crossover, EqualAtAPlaceOnTheWayCrossesThere) {
  const std::vector<double> places{1, 2, 3, 4, 5};
  const auto rising = [](double at) { return std::exp(at - 3); };
  const auto one = [](double) { return 1.0; };
  const Crossover found = find_crossover(observe(places, rising, one, 0, 1), Axis::kLinear);
  ASSERT_EQ(found.crossings.size(), 1U);
  EXPECT_DOUBLE_EQ(found.crossings[0].at, 3);
}

TEST(Crossover, OfACliffTheWholeGapIsTheInterval) {
  constexpr double kCliff = 100e6;
  const auto cliff = [](double size) { return size < kCliff ? 2e6 : 2e3; };
  for (const double noise : {0.0, 0.05, 0.2}) {
    for (const std::size_t pairs : {std::size_t{3}, kPairs}) {
      auto samples = observe(sizes(), cliff, flat, noise, 13, pairs);
      Crossover found = find_crossover(samples, Axis::kLogarithmic);
      ASSERT_EQ(found.crossings.size(), 1U);
      EXPECT_TRUE(found.crossings[0].jump);
      EXPECT_TRUE(found.crossings[0].certain) << noise << " " << pairs;
      EXPECT_TRUE(within(found.crossings[0].interval, kCliff));
      EXPECT_LT(found.crossings[0].interval.high / found.crossings[0].interval.low, 1.5);
      const auto added = refine_bracket(found, found.crossings[0], Axis::kLogarithmic, 3);
      for (PairedSample& sample : observe(added, cliff, flat, noise, 14, pairs)) samples.push_back(sample);
      found = find_crossover(samples, Axis::kLogarithmic);
      ASSERT_EQ(found.crossings.size(), 1U);
      EXPECT_TRUE(within(found.crossings[0].interval, kCliff));
      EXPECT_LT(found.crossings[0].interval.high / found.crossings[0].interval.low, 1.1);
    }
  }
}

/// Returns the number of data sets in which a crossing is certain although the two curves are equal.
int false_alarms(double noise, std::size_t pairs) {
  int alarms = 0;
  for (unsigned set = 0; set < kSets; ++set) {
    const Crossover found =
        find_crossover(observe(sizes(), line, line, noise, 9000 + set, pairs), Axis::kLogarithmic, kQuick);
    bool alarm = false;
    for (const Crossing& crossing : found.crossings) alarm |= crossing.certain;
    if (alarm) ++alarms;
  }
  return alarms;
}

TEST(Crossover, ACurveDoesNotCrossItself) {
  for (const std::size_t pairs : {std::size_t{3}, std::size_t{4}, kPairs}) {
    for (const double noise : {0.05, 0.2}) {
      const int alarms = false_alarms(noise, pairs);
      RecordProperty(fmt::format("alarms_{}_{}", pairs, noise), alarms);
      EXPECT_LE(alarms, 3) << pairs << " pairs, noise " << noise;
    }
  }
}

TEST(Crossover, EqualCurvesWithoutNoiseAreEqual) {
  const Crossover found = find_crossover(observe(sizes(), line, line, 0, 1), Axis::kLogarithmic);
  EXPECT_TRUE(found.crossings.empty());
  ASSERT_EQ(found.stretches.size(), 1U);
  EXPECT_EQ(found.stretches[0].sign, 0);
  EXPECT_FALSE(found.stretches[0].clear);
}

TEST(Crossover, TheSameDataGiveTheSameIntervalInAnyOrder) {
  auto samples = observe(sizes(), line, flat, 0.2, 21);
  const Crossover one = find_crossover(samples, Axis::kLogarithmic);
  std::reverse(samples.begin(), samples.end());
  const Crossover other = find_crossover(samples, Axis::kLogarithmic);
  ASSERT_EQ(one.crossings.size(), other.crossings.size());
  ASSERT_FALSE(one.crossings.empty());
  EXPECT_EQ(one.crossings[0].interval.low, other.crossings[0].interval.low);
  EXPECT_EQ(one.crossings[0].interval.high, other.crossings[0].interval.high);
  EXPECT_EQ(one.crossings[0].share, other.crossings[0].share);
}

TEST(Crossover, ExchangingTheTwoExchangesTheSidesOnly) {
  const Crossover one = find_crossover(observe(sizes(), line, flat, 0, 1), Axis::kLogarithmic);
  const Crossover other = find_crossover(observe(sizes(), flat, line, 0, 1), Axis::kLogarithmic);
  ASSERT_EQ(other.crossings.size(), 1U);
  EXPECT_NEAR(other.crossings[0].at, one.crossings[0].at, 1e-3);
  EXPECT_EQ(other.stretches[0].sign, 1);
}

TEST(Crossover, ANewPlaceIsBetweenTheOldOnes) {
  const Crossover found = find_crossover(observe(sizes(), line, flat, 0, 1), Axis::kLogarithmic);
  const auto added = refine_bracket(found, found.crossings[0], Axis::kLogarithmic, 3);
  ASSERT_EQ(added.size(), 3U);
  const Interval bracket = found.crossings[0].bracket;
  for (int quarter = 1; quarter <= 3; ++quarter) {
    const double expected = bracket.low * std::pow(bracket.high / bracket.low, quarter / 4.0);
    EXPECT_NEAR(added[static_cast<std::size_t>(quarter) - 1] / expected, 1, 1e-9);
  }
}

TEST(Crossover, NothingIsFoundInNothing) {
  EXPECT_TRUE(find_crossover({}, Axis::kLinear).stretches.empty());
  EXPECT_TRUE(find_crossover({{1, {0.5, 0.6, 0.7}}}, Axis::kLinear).crossings.empty());
}

TEST(Crossover, RefusesWhatIsNoTable) {
  EXPECT_THROW(find_crossover({{1, {}}}, Axis::kLinear), std::invalid_argument);
  EXPECT_THROW(find_crossover({{1, {0.1}}, {1, {0.2}}}, Axis::kLinear), std::invalid_argument);
  EXPECT_THROW(find_crossover({{0, {0.1}}}, Axis::kLogarithmic), std::invalid_argument);
}

TEST(Bootstrap, MediansOfEvenAndOddSamples) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_THROW(median({}), std::invalid_argument);
}

TEST(Bootstrap, AResampleDrawsFromItsOwnSample) {
  const auto medians = resampled_medians({{1, 1, 1}, {5, 7}}, 200, 1);
  ASSERT_EQ(medians.size(), 200U);
  bool five = false;
  bool six = false;
  bool seven = false;
  for (const auto& row : medians) {
    EXPECT_EQ(row[0], 1);
    five |= row[1] == 5;
    six |= row[1] == 6;
    seven |= row[1] == 7;
  }
  EXPECT_TRUE(five && six && seven);
  EXPECT_EQ(resampled_medians({{1, 2, 3}}, 50, 9), resampled_medians({{1, 2, 3}}, 50, 9));
}

}  // namespace
}  // namespace zerotax::compare
