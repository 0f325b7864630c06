#include "trace/function_verdict.h"

#include <gtest/gtest.h>

namespace zerotax::trace {
namespace {

/// Returns calls with self times of `ns` plus or minus 10 ns.
FunctionSide side_of(std::uint64_t calls, std::uint64_t ns) {
  FunctionSide side;
  for (std::uint64_t i = 0; i < calls; ++i) side.self.add(i % 2 == 0 ? ns - 10 : ns + 10);
  return side;
}

FunctionChange verdict_of(const FunctionSide& before, const FunctionSide& after, bool complete = true) {
  return judge_function(before, after, complete).verdict;
}

TEST(FunctionVerdict, NamesWhatBecameOfAFunction) {
  EXPECT_EQ(verdict_of(side_of(0, 0), side_of(10, 100)), FunctionChange::kAppeared);
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(0, 0)), FunctionChange::kVanished);
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(100, 200)), FunctionChange::kGrew);
  EXPECT_EQ(verdict_of(side_of(100, 200), side_of(100, 100)), FunctionChange::kShrank);
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(100, 100)), FunctionChange::kSame);
}

TEST(FunctionVerdict, OneCallMoreIsMoreCallsAndNoGrowth) {
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(101, 100)), FunctionChange::kMoreCalls);
  EXPECT_EQ(verdict_of(side_of(101, 100), side_of(100, 100)), FunctionChange::kFewerCalls);
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(200, 100)), FunctionChange::kGrew);
}

TEST(FunctionVerdict, AChangeWithinTheSpreadOrATenthIsNone) {
  EXPECT_EQ(verdict_of(side_of(1000, 100), side_of(1000, 109)), FunctionChange::kSame);
  FunctionSide wild;
  FunctionSide wilder;
  for (int i = 0; i < 10; ++i) {
    wild.self.add(i == 0 ? 100'000 : 10);
    wilder.self.add(i == 0 ? 200'000 : 10);
  }
  EXPECT_EQ(verdict_of(wild, wilder), FunctionChange::kSame);
}

TEST(FunctionVerdict, FewCallsTellNothingOfChance) {
  EXPECT_EQ(verdict_of(side_of(9, 100), side_of(9, 1000)), FunctionChange::kUnclear);
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(10, 1000)), FunctionChange::kGrew);
  EXPECT_EQ(verdict_of(side_of(9, 100), side_of(9, 105)), FunctionChange::kSame);
  const FunctionVerdict verdict = judge_function(side_of(1, 100), side_of(1, 1000), true);
  EXPECT_EQ(verdict.verdict, FunctionChange::kUnclear);
  EXPECT_TRUE(verdict.why);
  EXPECT_FALSE(verdict.noise_ns);
  EXPECT_EQ(verdict.self_change_ns, 900);
}

TEST(FunctionVerdict, WhatIsMissingWhereRecordsAreMissingIsUnclear) {
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(0, 0), false), FunctionChange::kUnclear);
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(9, 100), false), FunctionChange::kUnclear);
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(10, 100), false), FunctionChange::kSame);
}

TEST(FunctionVerdict, ACallThatDidNotEndIsThere) {
  FunctionSide running;
  running.unfinished = 1;
  EXPECT_EQ(verdict_of(running, running), FunctionChange::kSame);
  EXPECT_EQ(verdict_of(side_of(0, 0), running), FunctionChange::kAppeared);
}

TEST(FunctionVerdict, OnlyWhatIsMoreIsAFinding) {
  using enum FunctionChange;
  for (const FunctionChange more : {kAppeared, kGrew, kMoreCalls}) EXPECT_EQ(direction_of(more), Direction::kMore);
  for (const FunctionChange less : {kVanished, kShrank, kFewerCalls}) EXPECT_EQ(direction_of(less), Direction::kLess);
  for (const FunctionChange none : {kSame, kUnclear}) EXPECT_EQ(direction_of(none), Direction::kSame);
}

TEST(FunctionVerdict, HasTheWordsOfItsChange) {
  EXPECT_STREQ(word(FunctionChange::kAppeared), "appeared");
  EXPECT_STREQ(word(FunctionChange::kFewerCalls), "fewer calls");
  EXPECT_STREQ(word(FunctionChange::kUnclear), "unclear");
}

}  // namespace
}  // namespace zerotax::trace
