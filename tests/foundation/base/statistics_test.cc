#include "base/statistics.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace zerotax {
namespace {

TEST(Statistics, QuantilesAgreeWithRsType7) {
  // R: quantile(c(15, 20, 35, 40, 50), c(0, .05, .4, .5, .95, 1))
  const std::vector<double> sample{50, 15, 40, 20, 35};
  EXPECT_DOUBLE_EQ(quantile(sample, 0), 15);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.05), 16);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.4), 29);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.5), 35);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.95), 48);
  EXPECT_DOUBLE_EQ(quantile(sample, 1), 50);
}

TEST(Statistics, SpreadOfOneValueIsThatValue) {
  const Spread one = spread({7});
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.p05, 7);
  EXPECT_EQ(one.p95, 7);
}

TEST(Statistics, SpreadIsTheMedianAndTheFifthAndNinetyFifthPercentile) {
  const Spread found = spread({50, 15, 40, 20, 35});
  EXPECT_DOUBLE_EQ(found.median, 35);
  EXPECT_DOUBLE_EQ(found.p05, 16);
  EXPECT_DOUBLE_EQ(found.p95, 48);
}

TEST(Statistics, PercentilesOfEqualValuesAscend) {
  for (std::size_t n = 1; n < 200; ++n) {
    const Spread s = spread(std::vector<double>(n, 401));
    EXPECT_LE(s.p05, s.median) << n;
    EXPECT_LE(s.median, s.p95) << n;
  }
}

TEST(Statistics, TheMedianOfCountsWasAlwaysObserved) {
  EXPECT_EQ(observed_median({4, 1, 3, 2}), 2);
  EXPECT_EQ(observed_median({0, 25600}), 0);
  EXPECT_EQ(observed_median({5, 5, 1}), 5);
}

TEST(Statistics, AnEmptySampleIsRefused) {
  EXPECT_THROW(quantile({}, 0.5), std::invalid_argument);
  EXPECT_THROW(spread({}), std::invalid_argument);
  EXPECT_THROW(observed_median({}), std::invalid_argument);
}

}  // namespace
}  // namespace zerotax
