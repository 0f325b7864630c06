#include "report/workload_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace zerotax::report {
namespace {

using What = WorkloadCall::What;

const std::vector<WorkloadCall> kCalls{
    {What::kMalloc, 0, 20'000, 0}, {What::kTouch, 0, 1, 2}, {What::kCalloc, 1, 100, 0}, {What::kRealloc, 2, 40'000, 0},
    {What::kFree, 1, 0, 0},        {What::kFree, 2, 0, 0},  {What::kAligned, 3, 64, 12}};

TEST(WorkloadUnits, CallsOfABlockAndOfWhatReallocMadeOfItBelongTogether) {
  EXPECT_EQ(units_of(kCalls), (std::vector<std::size_t>{0, 0, 1, 0, 1, 0, 2}));
}

TEST(WorkloadUnits, WhatIsLeftIsNumberedAnew) {
  const std::vector<std::size_t> units = units_of(kCalls);
  const std::vector<WorkloadCall> left = calls_of(kCalls, units, {false, true, true});
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(calls_as_c(left), "  {CALLOC, 0, 100, 0}, {FREE, 0, 0, 0}, {ALIGNED, 1, 64, 12},\n");
  EXPECT_EQ(calls_as_c(calls_of(kCalls, units, {true, false, false})),
            "  {MALLOC, 0, 20000, 0}, {TOUCH, 0, 1, 2}, {REALLOC, 1, 40000, 0}, {FREE, 1, 0, 0},\n");
}

std::vector<bool> with(std::size_t units, const std::vector<std::size_t>& kept) {
  std::vector<bool> bits(units);
  for (const std::size_t unit : kept) bits[unit] = true;
  return bits;
}

TEST(WorkloadShortest, FindsTheOneThatShowsIt) {
  std::size_t asked = 0;
  const auto shows = [&](const std::vector<bool>& kept) {
    ++asked;
    return static_cast<bool>(kept[777]);
  };
  EXPECT_EQ(shortest(1000, 10'000, shows), with(1000, {777}));
  EXPECT_LT(asked, 60U);
}

TEST(WorkloadShortest, FindsSeveralThatShowItTogether) {
  const auto shows = [](const std::vector<bool>& kept) { return kept[3] && kept[500] && kept[501] && kept[999]; };
  EXPECT_EQ(shortest(1000, 10'000, shows), with(1000, {3, 500, 501, 999}));
}

TEST(WorkloadShortest, OfManyThatAreAlikeKeepsAsManyAsAreNeeded) {
  const auto shows = [](const std::vector<bool>& kept) { return std::count(kept.begin(), kept.end(), true) >= 5; };
  const std::vector<bool> kept = shortest(300, 10'000, shows);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), true), 5);
}

TEST(WorkloadShortest, ShowsItStillWhenItMayNotAskOn) {
  const auto shows = [](const std::vector<bool>& kept) { return kept[3] && kept[500]; };
  for (std::size_t most = 0; most < 40; ++most) {
    const std::vector<bool> kept = shortest(1000, most, shows);
    EXPECT_TRUE(shows(kept)) << most;
  }
  EXPECT_EQ(shortest(1, 10, [](const std::vector<bool>&) { return true; }), with(1, {0}));
}

}  // namespace
}  // namespace zerotax::report
