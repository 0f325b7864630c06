#include "trace/function_calls.h"

#include <gtest/gtest.h>

#include "told_calls.h"

namespace zerotax::trace {
namespace {

TEST(FunctionCalls, SelfTimeIsWithoutTheCalled) {
  Told told;
  told.enter(1, 1, 100);
  told.enter(2, 2, 110);
  told.leave(2, 140);
  told.enter(2, 2, 150);
  told.leave(2, 160);
  told.leave(1, 200);
  EXPECT_EQ(told.of(1).total_ns, 100U);
  EXPECT_EQ(told.of(1).self_ns, 60U);
  EXPECT_EQ(told.of(2).calls, 2U);
  EXPECT_EQ(told.of(2).total_ns, 40U);
  EXPECT_EQ(told.of(2).duration.min(), 10U);
  EXPECT_EQ(told.of(2).duration.max(), 30U);
}

TEST(FunctionCalls, TotalTimeOfRecursionIsThatOfTheOutermost) {
  Told told;
  told.enter(1, 1, 100);
  told.enter(1, 2, 110);
  told.enter(1, 3, 120);
  told.leave(1, 130);
  told.leave(1, 150);
  told.leave(1, 200);
  EXPECT_EQ(told.of(1).calls, 3U);
  EXPECT_EQ(told.of(1).total_ns, 100U);
  EXPECT_EQ(told.of(1).self_ns, 100U);
}

TEST(FunctionCalls, AJumpEndsWhatLiesBelowIt) {
  Told told;
  told.enter(1, 1, 100);
  told.enter(2, 2, 110);
  told.enter(3, 3, 120);
  told.jump_to(1, 130);
  told.enter(3, 2, 140);
  told.leave(3, 150);
  told.leave(1, 200);
  EXPECT_EQ(told.of(2).left, 1U);
  EXPECT_EQ(told.of(2).total_ns, 20U);
  EXPECT_EQ(told.of(3).calls, 2U);
  EXPECT_EQ(told.of(3).left, 1U);
  EXPECT_EQ(told.of(1).total_ns, 100U);
  EXPECT_EQ(told.of(1).self_ns, 70U);
}

TEST(FunctionCalls, AnExitEndsTheOnesAboveThatHadNone) {
  Told told;
  told.enter(1, 1, 100);
  told.enter(2, 2, 110);
  told.leave(1, 150);
  EXPECT_EQ(told.of(2).calls, 1U);
  EXPECT_EQ(told.of(2).left, 1U);
  EXPECT_EQ(told.of(1).left, 0U);
}

TEST(FunctionCalls, ThreadsHaveStacksOfTheirOwn) {
  Told told;
  told.enter(1, 1, 100, 1);
  told.enter(2, 1, 110, 2);
  told.leave(1, 120, 1);
  told.leave(2, 150, 2);
  EXPECT_EQ(told.of(1).self_ns, 20U);
  EXPECT_EQ(told.of(2).self_ns, 40U);
}

TEST(FunctionCalls, WhatLostRecordsMayHaveEndedIsUnfinished) {
  Told told;
  told.enter(1, 1, 100);
  told.lose();
  told.enter(2, 1, 200);
  told.leave(2, 210);
  told.leave(1, 220);
  told.enter(3, 1, 230);
  told.calls.finish();
  EXPECT_EQ(told.of(1).calls, 0U);
  EXPECT_EQ(told.of(1).unfinished, 1U);
  EXPECT_EQ(told.calls.exits_without_entry(), 1U);
  EXPECT_EQ(told.of(3).unfinished, 1U);
}

}  // namespace
}  // namespace zerotax::trace
