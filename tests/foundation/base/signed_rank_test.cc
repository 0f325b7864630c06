#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/statistics.h"

namespace zerotax {
namespace {

TEST(SignedRank, TheNullDistributionIsThatOfTheTables) {
  // Hollander, Wolfe and Chicken, table A.4: P(W >= 14) for five values is 0.0625, which by symmetry is also P(W <= 1).
  EXPECT_DOUBLE_EQ(SignedRankNull(5).at_most(1), 2.0 / 32);
  EXPECT_DOUBLE_EQ(SignedRankNull(5).at_most(15), 1);
  EXPECT_DOUBLE_EQ(SignedRankNull(1).at_most(0), 0.5);
  // R: psignrank(8, 10) is 0.02441406.
  EXPECT_DOUBLE_EQ(SignedRankNull(10).at_most(8), 25.0 / 1024);
  EXPECT_NEAR(SignedRankNull(200).at_most(200 * 201 / 4), 0.5, 1e-3);
}

TEST(SignedRank, TheNullDistributionIsThatOfEveryAssignmentOfSigns) {
  constexpr unsigned kValues = 9;
  const SignedRankNull null(kValues);
  std::vector<double> seen(kValues * (kValues + 1) / 2 + 1, 0.0);
  for (unsigned signs = 0; signs < (1U << kValues); ++signs) {
    unsigned w = 0;
    for (unsigned i = 0; i < kValues; ++i) w += ((signs >> i) & 1) * (i + 1);
    seen[w] += 1.0 / (1U << kValues);
  }
  double sum = 0;
  for (std::size_t w = 0; w < seen.size(); ++w) EXPECT_NEAR(null.at_most(w), sum += seen[w], 1e-12);
}

TEST(SignedRank, TheTestIsThatOfScipy) {
  // scipy.stats.wilcoxon(x, mode="exact") of scipy 1.10: W = 2, p = 0.0234375.
  const std::vector<double> sample{1.1, 2.3, 0.4, 3.8, 2.9, -0.5, 1.7, 2.2};
  const auto averages = walsh_averages(sample);
  const SignedRankNull null(sample.size());
  EXPECT_EQ(averages.size(), 36U);
  EXPECT_NEAR(median(averages), 1.7, 1e-9);
  EXPECT_NEAR(signed_rank_p(averages, null), 0.0234375, 1e-12);
  // The table's critical value for eight values at 5 % is W <= 3, so the interval ends at the fourth Walsh average from
  // each end.
  const Interval interval = signed_rank_interval(averages, null, 0.95);
  EXPECT_NEAR(interval.low, 0.4, 1e-9);
  EXPECT_NEAR(interval.high, 3.0, 1e-9);
}

TEST(SignedRank, AnIntervalExcludesZeroExactlyWhenTheTestSaysSo) {
  Random random(1);
  for (int run = 0; run < 2000; ++run) {
    std::vector<double> sample;
    sample.reserve(12);
    // Whole and half numbers cause ties and zeros.
    for (int i = 0; i < 12; ++i) sample.push_back(static_cast<double>(random.below(9)) - 2.5 - (run % 3) * 0.5);
    const auto averages = walsh_averages(sample);
    const SignedRankNull null(sample.size());
    for (const double level : {0.9, 0.95, 0.99, 0.999}) {
      const Interval interval = signed_rank_interval(averages, null, level);
      const bool excludes = interval.low > 0 || interval.high < 0;
      EXPECT_EQ(excludes, signed_rank_p(averages, null) <= 1 - level);
    }
  }
}

TEST(SignedRank, TooFewValuesHaveNoInterval) {
  const std::vector<double> sample{1, 2, 3, 4};
  EXPECT_EQ(signed_rank_interval(walsh_averages(sample), SignedRankNull(4), 0.95).high,
            std::numeric_limits<double>::infinity());
  EXPECT_THROW(SignedRankNull(0), std::invalid_argument);
  EXPECT_THROW(SignedRankNull(201), std::invalid_argument);
}

}  // namespace
}  // namespace zerotax
