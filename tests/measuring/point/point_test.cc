#include "point/point.h"

#include <gtest/gtest.h>

#include <cstring>

#include "made_passes.h"
#include "point/steady_state.h"
#include "real_cpu.h"

namespace zerotax {
namespace {

TEST(WarmUp, LeavesOutHalfAndNeverMoreThanFive) {
  EXPECT_EQ(warm_up_operations(1), 0U);
  EXPECT_EQ(warm_up_operations(2), 1U);
  EXPECT_EQ(warm_up_operations(3), 2U);
  EXPECT_EQ(warm_up_operations(8), 4U);
  EXPECT_EQ(warm_up_operations(10), 5U);
  EXPECT_EQ(warm_up_operations(50), 5U);
}

TEST_F(PointTest, FiguresAreOfTheSteadyStateAndFirstOpsOfEachCall) {
  ONLY_ON_A_REAL_CPU();
  Passes passes;
  passes.timing = timing_pass(20);
  passes.audit = audit_pass(1 << 20, 1 << 19, kByMemset);
  passes.zeroing = make_pass(8, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 8; ++i) {
      op(samples, i).zero_ns = i == 0 ? 0 : 75;
      op(samples, i).calloc_ns = 100;
    }
  });
  const Json point = json(passes);
  EXPECT_EQ(point["status"], "ok");
  EXPECT_EQ(point["ops"], 20);
  EXPECT_EQ(point["calloc_ns"]["median"], 112.0);
  EXPECT_EQ(point["calloc_faults"], 1);
  EXPECT_EQ(point["zeroed_bytes"], 1 << 20);
  EXPECT_EQ(point["redundant_zeroed_bytes"], 1 << 19);
  EXPECT_EQ(point["zero_ns"], 84) << "three quarters of calloc_ns";
  EXPECT_EQ(point["zero_ns_method"], "clock around memset");
  EXPECT_EQ(point["zeroed_method"], "memset");
  EXPECT_EQ(point["calloc_syscalls"], (Json{{"mmap", 1}}));
  EXPECT_EQ(point["free_syscalls"], (Json{{"munmap", 1}, {"syscall_500", 2}}));
  EXPECT_EQ(point["syscalls"], (Json{{"mmap", 1}, {"munmap", 1}, {"syscall_500", 2}}));
  ASSERT_EQ(point["first_ops"].size(), 8U);
  EXPECT_EQ(point["first_ops"][0]["calloc_faults"], 26);
  EXPECT_EQ(point["first_ops"][0]["zeroed_bytes"], 0);
  EXPECT_EQ(point["first_ops"][1]["zeroed_bytes"], 1 << 20);
  EXPECT_TRUE(is_not_available(point["version"]));
}

TEST_F(PointTest, WhatWasNotMeasuredIsNeverZero) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = make_pass(
      0, [](SampleBlock&) {}, PassResult::Status::kCrashed, "killed by SIGSEGV in calloc, operation 1");
  const Json point = json(passes);
  EXPECT_EQ(point["status"], "crashed");
  EXPECT_NE(point["reason"].get<std::string>().find("SIGSEGV"), std::string::npos);
  for (const char* figure : {"zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "zero_ns", "syscalls",
                             "touch_ns", "touch_faults"}) {
    EXPECT_TRUE(is_not_available(point[figure])) << figure;
    EXPECT_FALSE(point[figure]["na"].get<std::string>().empty()) << figure;
  }
  EXPECT_EQ(point["calloc_faults"], 1);
}

TEST_F(PointTest, AReasonInTheSampleBlockTakesAwayItsFigureOnly) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(100, 0, kByMemset);
  const_cast<SampleBlock&>(passes.audit.samples()).na_redundant[0] = 'x';
  const Json point = json(passes);
  EXPECT_EQ(point["redundant_zeroed_bytes"], (Json{{"na", "x"}}));
  EXPECT_EQ(point["zeroed_bytes"], 100);
}

TEST_F(PointTest, ANonZeroBlockIsAViolationWithItsPlace) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  auto& samples = const_cast<SampleBlock&>(passes.audit.samples());
  op(samples, 3).not_zero = 1;
  op(samples, 3).not_zero_offset = 12345;
  const Json point = json(passes);
  EXPECT_EQ(point["status"], "not_zero");
  EXPECT_EQ(point["violations"], Json::array({"not_zero"}));
  EXPECT_NE(point["reason"].get<std::string>().find("12345"), std::string::npos);
  EXPECT_NE(point["reason"].get<std::string>().find("operation 4"), std::string::npos);
}

TEST_F(PointTest, AMisalignedBlockIsAViolationWithItsAlignment) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  auto& samples = const_cast<SampleBlock&>(passes.audit.samples());
  op(samples, 2).misaligned = 8;
  Json point = json(passes);
  EXPECT_EQ(point["status"], "misaligned");
  EXPECT_EQ(point["reason"], "calloc handed out a block aligned to 8 bytes where 16 are required, operation 3");
  EXPECT_EQ(point["violations"], Json::array({"misaligned"}));
  op(samples, 5).not_zero = 1;
  point = json(passes);
  EXPECT_EQ(point["status"], "not_zero");
  EXPECT_EQ(point["violations"], Json::array({"not_zero", "misaligned"}));
}

TEST_F(PointTest, ZeroingInFreeHasFiguresABoundAndAReasonOfItsOwn) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(100, 50, kByMemset);
  auto& samples = const_cast<SampleBlock&>(passes.audit.samples());
  for (std::size_t i = 0; i < 8; ++i) {
    op(samples, i).zeroed_in_free_bytes = 8192;
    op(samples, i).redundant_zeroed_in_free_bytes = 4096;
    op(samples, i).free_methods = kByInline;
  }
  Json point = json(passes);
  EXPECT_EQ(point["zeroed_bound"], "exact");
  EXPECT_EQ(point["zeroed_in_free_bytes"], 8192);
  EXPECT_EQ(point["redundant_zeroed_in_free_bytes"], 4096);
  EXPECT_EQ(point["zeroed_in_free_method"], "inline");
  EXPECT_EQ(point["zeroed_in_free_bound"], "at most");
  EXPECT_EQ(point["first_ops"][0]["zeroed_in_free_bytes"], 8192);
  op(samples, 6).zeroed_in_free_bytes = kNotMeasured;
  say(samples.na_unseen_in_free, "somebody else did it");
  point = json(passes);
  EXPECT_EQ(point["zeroed_in_free_bytes"]["na"], "somebody else did it");
  EXPECT_TRUE(is_not_available(point["zeroed_in_free_bound"]));
  EXPECT_EQ(point["zeroed_bytes"], 100);
}

TEST_F(PointTest, ATallyThatStoppedEarlyIsNotAvailable) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  for (std::size_t i = 0; i < 8; ++i)
    op(const_cast<SampleBlock&>(passes.audit.samples()), i).calloc_syscalls.incomplete = 1;
  const Json point = json(passes);
  EXPECT_TRUE(is_not_available(point["calloc_syscalls"]));
  EXPECT_TRUE(is_not_available(point["syscalls"]));
  EXPECT_FALSE(is_not_available(point["free_syscalls"]));
}

TEST_F(PointTest, ThePassThatWentWrongFirstIsTheReasonAndOutranksContents) {
  Passes passes;
  passes.audit = audit_pass(0, 0, 0, PassResult::Status::kTimeout, "not done");
  passes.timing = make_pass(
      0, [](SampleBlock&) {}, PassResult::Status::kCrashed, "killed");
  op(const_cast<SampleBlock&>(passes.audit.samples()), 3).not_zero = 1;
  const Json point = json(passes);
  EXPECT_EQ(point["status"], "timeout");
  EXPECT_EQ(point["reason"], "audit pass: not done");
  EXPECT_EQ(point["violations"], Json::array());
}

TEST_F(PointTest, ACountIsNotAvailableIfOneSteadyOperationLacksIt) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(1 << 20, 1 << 20, kByMemset);
  auto& samples = const_cast<SampleBlock&>(passes.audit.samples());
  op(samples, 6).zeroed_bytes = kNotMeasured;
  std::strcpy(&samples.na_unseen[0], "unseen");
  const Json point = json(passes);
  EXPECT_EQ(point["zeroed_bytes"], (Json{{"na", "unseen"}}));
  EXPECT_EQ(point["zero_ns"], (Json{{"na", "unseen"}}));
  EXPECT_EQ(point["zeroed_method"], (Json{{"na", "unseen"}}));
  EXPECT_EQ(point["first_ops"][5]["zeroed_bytes"], 1 << 20);
  EXPECT_EQ(point["first_ops"][6]["zeroed_bytes"], (Json{{"na", "unseen"}}));
}

TEST_F(PointTest, AReasonInTheSampleBlockTakesTheFigureFromEachEarlyOperationToo) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(100, 7, kByMemset);
  std::strcpy(&const_cast<SampleBlock&>(passes.audit.samples()).na_redundant[0], "refused");
  const Json point = json(passes);
  ASSERT_EQ(point["first_ops"].size(), 8U);
  for (const Json& entry : point["first_ops"]) {
    EXPECT_EQ(entry["redundant_zeroed_bytes"], (Json{{"na", "refused"}}));
  }
}

TEST_F(PointTest, TheMethodIsThatOfTheSteadyState) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(1 << 20, 1 << 20, kByMemset);
  op(const_cast<SampleBlock&>(passes.audit.samples()), 0).methods = kByInline;
  EXPECT_EQ(json(passes)["zeroed_method"], "memset");
  op(const_cast<SampleBlock&>(passes.audit.samples()), 7).methods = kByInline;
  EXPECT_EQ(json(passes)["zeroed_method"], "memset+inline");
}

TEST_F(PointTest, SteadySystemCallsAreTheMostFrequentAndOfEqualsTheLatest) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  auto& samples = const_cast<SampleBlock&>(passes.audit.samples());
  const auto calls = [&](std::initializer_list<std::uint32_t> of_the_last_four) {
    std::size_t i = 4;
    for (const std::uint32_t number : of_the_last_four) op(samples, i++).calloc_syscalls.kinds[0].calls = number;
    return json(passes)["calloc_syscalls"]["mmap"];
  };
  EXPECT_EQ(calls({2, 2, 2, 3}), 2);
  EXPECT_EQ(calls({2, 2, 3, 3}), 3);
  EXPECT_EQ(calls({2, 3, 2, 3}), 3);
}

TEST_F(PointTest, ATimeWithoutValuesSaysSo) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  const Json point = json(passes);
  EXPECT_EQ(point["touch_ns"], (Json{{"na", "nothing is touched"}}));
  EXPECT_EQ(point["first_ops"][0]["touch_ns"], (Json{{"na", "nothing is touched"}}));
}

TEST_F(PointTest, TouchingIsAFigureOfEachOperationWhereThereWasSome) {
  ONLY_ON_A_REAL_CPU();
  Passes passes;
  passes.timing = timing_pass(8);
  EXPECT_EQ(json(passes)["first_ops"][0]["touch_ns"], (Json{{"na", "nothing is touched"}}));
  for (std::size_t i = 0; i < 8; ++i) op(const_cast<SampleBlock&>(passes.timing.samples()), i).touch_ns = 42;
  EXPECT_EQ(json(passes)["first_ops"][0]["touch_ns"], 42);
}

}  // namespace
}  // namespace zerotax
