#include "trace/function_verdict.h"

#include <gtest/gtest.h>

namespace zerotax::trace {
namespace {

/// Calls whose self times are `ns` give or take 10 ns.
FunctionSide side_of(std::uint64_t calls, std::uint64_t ns) {
  FunctionSide side;
  for (std::uint64_t i = 0; i < calls; ++i) side.self.add(i % 2 == 0 ? ns - 10 : ns + 10);
  return side;
}

std::string verdict_of(const FunctionSide& before, const FunctionSide& after, bool complete = true) {
  return judge_function(before, after, complete).name;
}

TEST(FunctionVerdict, NamesWhatBecameOfAFunction) {
  EXPECT_EQ(verdict_of(side_of(0, 0), side_of(10, 100)), "appeared");
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(0, 0)), "vanished");
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(100, 200)), "grew");
  EXPECT_EQ(verdict_of(side_of(100, 200), side_of(100, 100)), "shrank");
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(100, 100)), "same");
}

TEST(FunctionVerdict, OneCallMoreIsMoreCallsAndNoGrowth) {
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(101, 100)), "more calls");
  EXPECT_EQ(verdict_of(side_of(101, 100), side_of(100, 100)), "fewer calls");
  EXPECT_EQ(verdict_of(side_of(100, 100), side_of(200, 100)), "grew");
}

TEST(FunctionVerdict, AChangeWithinTheSpreadOrATenthIsNone) {
  EXPECT_EQ(verdict_of(side_of(1000, 100), side_of(1000, 109)), "same");
  FunctionSide wild;
  FunctionSide wilder;
  for (int i = 0; i < 10; ++i) {
    wild.self.add(i == 0 ? 100'000 : 10);
    wilder.self.add(i == 0 ? 200'000 : 10);
  }
  EXPECT_EQ(verdict_of(wild, wilder), "same");
}

TEST(FunctionVerdict, FewCallsTellNothingOfChance) {
  EXPECT_EQ(verdict_of(side_of(9, 100), side_of(9, 1000)), "unclear");
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(10, 1000)), "grew");
  EXPECT_EQ(verdict_of(side_of(9, 100), side_of(9, 105)), "same");
  const FunctionVerdict verdict = judge_function(side_of(1, 100), side_of(1, 1000), true);
  EXPECT_EQ(verdict.name, "unclear");
  EXPECT_FALSE(verdict.why.empty());
  EXPECT_TRUE(is_not_available(verdict.noise_ns));
  EXPECT_EQ(verdict.change_ns, 900);
}

TEST(FunctionVerdict, WhatIsMissingWhereRecordsAreMissingIsUnclear) {
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(0, 0), false), "unclear");
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(9, 100), false), "unclear");
  EXPECT_EQ(verdict_of(side_of(10, 100), side_of(10, 100), false), "same");
}

TEST(FunctionVerdict, ACallThatDidNotEndIsThere) {
  FunctionSide running;
  running.unfinished = 1;
  EXPECT_EQ(verdict_of(running, running), "same");
  EXPECT_EQ(verdict_of(side_of(0, 0), running), "appeared");
}

TEST(FunctionVerdict, OnlyWhatIsMoreIsAFinding) {
  for (const char* name : {"appeared", "grew", "more calls"}) EXPECT_EQ(direction_of(name), 1) << name;
  for (const char* name : {"vanished", "shrank", "fewer calls"}) EXPECT_EQ(direction_of(name), -1) << name;
  for (const char* name : {"same", "unclear"}) EXPECT_EQ(direction_of(name), 0) << name;
}

}  // namespace
}  // namespace zerotax::trace
