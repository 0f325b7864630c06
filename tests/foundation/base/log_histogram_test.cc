#include "base/log_histogram.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

TEST(LogHistogram, KnowsSmallValuesExactly) {
  LogHistogram histogram;
  for (const std::uint64_t value : {5U, 3U, 9U, 120U, 3U}) histogram.add(value);
  EXPECT_EQ(histogram.count(), 5U);
  EXPECT_EQ(histogram.min(), 3U);
  EXPECT_EQ(histogram.max(), 120U);
  EXPECT_EQ(histogram.quantile(0.5), 5U);
  EXPECT_EQ(histogram.quantile(0), 3U);
  EXPECT_EQ(histogram.quantile(1), 120U);
}

TEST(LogHistogram, KnowsLargeValuesWithinAPercent) {
  for (std::uint64_t value = 128; value < std::uint64_t{1} << 60; value = value * 3 + 17) {
    LogHistogram histogram;
    for (int i = 0; i < 3; ++i) histogram.add(value - 1 + static_cast<std::uint64_t>(i));
    EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)), static_cast<double>(value),
                0.01 * static_cast<double>(value));
  }
}

TEST(LogHistogram, OfNothingIsNothing) { EXPECT_EQ(LogHistogram().quantile(0.5), 0U); }

}  // namespace
}  // namespace zerotax
