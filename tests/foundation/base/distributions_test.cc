#include <gtest/gtest.h>

#include "base/statistics.h"

namespace zerotax {
namespace {

TEST(StudentQuantile, IsThatOfTheTables) {
  // Two-sided quantiles of 95 %.
  EXPECT_NEAR(student_quantile(0.025, 1), 12.706205, 1e-6);
  EXPECT_NEAR(student_quantile(0.025, 2), 4.302653, 1e-6);
  EXPECT_NEAR(student_quantile(0.025, 3), 3.182446, 1e-6);
  EXPECT_NEAR(student_quantile(0.025, 4), 2.776445, 1e-6);
  EXPECT_NEAR(student_quantile(0.025, 10), 2.228139, 1e-6);
  EXPECT_NEAR(student_quantile(0.005, 5), 4.032143, 1e-6);
  EXPECT_NEAR(student_quantile(0.001, 20), 3.551808, 1e-6);
  EXPECT_NEAR(student_quantile(0.05, 1e9), 1.644854, 1e-6);
}

TEST(StudentQuantile, TakesDegreesThatAreNotWhole) {
  // The quantile lies between the quantiles of the neighboring whole degrees, and is finite for the smallest degrees
  // that a crossover needs.
  EXPECT_GT(student_quantile(0.025, 1.5), student_quantile(0.025, 2));
  EXPECT_LT(student_quantile(0.025, 1.5), student_quantile(0.025, 1));
  EXPECT_LT(student_quantile(0.0001, 0.37), 1e12);
}

}  // namespace
}  // namespace zerotax
