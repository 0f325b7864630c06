#include "core/point.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstring>
#include <functional>

#include "core/steady_state.h"
#include "meter/meter.h"

namespace zerotax {
namespace {

/// A pass as a probe would have left it.
PassResult make_pass(std::size_t ops, const std::function<void(SampleBlock&)>& fill,
                     PassResult::Status status = PassResult::Status::kOk, const std::string& reason = "") {
  auto bytes = std::make_unique<unsigned char[]>(SampleBlock::bytes(ops));
  auto& samples = *reinterpret_cast<SampleBlock*>(bytes.get());
  samples.request.ops = static_cast<std::uint32_t>(ops);
  samples.ops_done = static_cast<std::uint32_t>(ops);
  for (std::size_t i = 0; i < ops; ++i) clear_operation((&samples.ops[0])[i]);
  fill(samples);
  return {std::move(bytes), status, reason};
}

OpSample& op(SampleBlock& samples, std::size_t i) { return (&samples.ops[0])[i]; }

/// The median of calloc_ns in timing_pass(8): of 1 ms, 105, 106 and 107 ns.
constexpr double kSteadyOfEight = 106.5;

PassResult timing_pass(std::size_t ops) {
  return make_pass(ops, [&](SampleBlock& samples) {
    for (std::size_t i = 0; i < ops; ++i) {
      op(samples, i).calloc_ns = i < 5 ? 1'000'000 : 100 + static_cast<int>(i);
      op(samples, i).free_ns = 10;
      op(samples, i).calloc_faults = i == 0 ? 26 : 1;
      op(samples, i).free_faults = 0;
    }
  });
}

PassResult audit_pass(std::int64_t zeroed, std::int64_t redundant, std::uint32_t methods,
                      PassResult::Status status = PassResult::Status::kOk, const std::string& reason = "") {
  const auto fill = [&](SampleBlock& samples) {
    for (std::size_t i = 0; i < 8; ++i) {
      OpSample& entry = op(samples, i);
      entry.zeroed_bytes = i == 0 ? 0 : zeroed;
      entry.redundant_zeroed_bytes = i == 0 ? 0 : redundant;
      entry.populated_bytes = 4096;
      entry.methods = i == 0 ? 0 : methods;
      entry.calloc_syscalls.kinds[0] = {SYS_mmap, 1};
      entry.calloc_syscalls.used = 1;
      entry.free_syscalls.kinds[0] = {SYS_munmap, 1};
      entry.free_syscalls.kinds[1] = {500, 2};
      entry.free_syscalls.used = 2;
    }
  };
  return make_pass(8, fill, status, reason);
}

class PointTest : public testing::Test {
 protected:
  PointTest() {
    plan.allocators.push_back({"mine", "/p", {}, {}, ""});
    add_points(plan, {{"calloc_loop"}, {1 << 20}, {0.0}, {"main"}}, {});
  }
  [[nodiscard]] Json json(const Passes& passes) const { return point_json(plan, plan.points[0], passes); }
  Plan plan;
};

TEST(WarmUp, LeavesOutHalfAndNeverMoreThanFive) {
  EXPECT_EQ(warm_up_operations(1), 0U);
  EXPECT_EQ(warm_up_operations(2), 1U);
  EXPECT_EQ(warm_up_operations(3), 2U);
  EXPECT_EQ(warm_up_operations(8), 4U);
  EXPECT_EQ(warm_up_operations(10), 5U);
  EXPECT_EQ(warm_up_operations(50), 5U);
}

TEST_F(PointTest, FiguresAreOfTheSteadyStateAndFirstOpsOfEachCall) {
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

TEST_F(PointTest, NothingZeroedTakesNoTime) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  EXPECT_TRUE(has_no_zeroing(passes.audit));
  EXPECT_EQ(json(passes)["zero_ns"], 0);
}

TEST_F(PointTest, InlineZeroingIsTimedByTheDifference) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(1 << 20, 1 << 20, kByInline);
  passes.differential = make_pass(4, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 4; ++i) {
      op(samples, i).calloc_ns = 1000;
      op(samples, i).malloc_ns = 300;
    }
  });
  const Json point = json(passes);
  // Seven tenths of the timing pass's median, of the operations after the fourth: 104 to 107 ns, the first of them 1
  // ms.
  EXPECT_EQ(point["calloc_ns"]["median"], kSteadyOfEight);
  EXPECT_EQ(point["zero_ns"], static_cast<int>(0.7 * kSteadyOfEight));
  EXPECT_EQ(point["zero_ns_method"], "calloc minus malloc");
  EXPECT_EQ(point["zeroed_method"], "inline");
}

TEST_F(PointTest, ADifferenceThatIsNoZeroingIsNotAvailable) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(4096, 4096, kByInline);
  passes.differential = make_pass(4, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 4; ++i) {
      op(samples, i).calloc_ns = 1000;
      op(samples, i).malloc_ns = 0;
    }
  });
  auto& samples = const_cast<SampleBlock&>(passes.differential.samples());
  EXPECT_EQ(json(passes)["zero_ns"], static_cast<int>(kSteadyOfEight));
  std::strcpy(&samples.na_zero_ns[0], "malloc zeroes too");
  EXPECT_EQ(json(passes)["zero_ns"], (Json{{"na", "malloc zeroes too"}}));
  EXPECT_EQ(json(passes)["zero_ns_method"], (Json{{"na", "malloc zeroes too"}}));
}

TEST_F(PointTest, MemsetsTooShortToTimeAreTimedByTheDifferenceOrNotAtAll) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(1000, 1000, kByMemset);
  passes.zeroing = make_pass(8, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 8; ++i) op(samples, i).calloc_ns = 100;
    std::strcpy(&samples.na_zero_ns[0], "too short");
  });
  EXPECT_TRUE(needs_differential_pass(passes));
  EXPECT_EQ(json(passes)["zero_ns"], (Json{{"na", "too short"}}));
  passes.differential = make_pass(4, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 4; ++i) {
      op(samples, i).calloc_ns = 100;
      op(samples, i).malloc_ns = 50;
    }
  });
  EXPECT_EQ(json(passes)["zero_ns"], static_cast<int>(kSteadyOfEight / 2));
}

TEST_F(PointTest, TimeOfZeroingIsOfOperationsThatZeroed) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  op(const_cast<SampleBlock&>(passes.audit.samples()), 0).zeroed_bytes = 1 << 20;
  op(const_cast<SampleBlock&>(passes.audit.samples()), 0).methods = kByMemset;
  passes.zeroing = make_pass(8, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 8; ++i) {
      op(samples, i).calloc_ns = 100;
      op(samples, i).zero_ns = 100;
    }
  });
  const Json point = json(passes);
  EXPECT_EQ(point["zero_ns"], 0);
  EXPECT_EQ(point["zero_ns_method"], "nothing to time");
  EXPECT_EQ(point["first_ops"][0]["zero_ns"], 1'000'000) << "all of that calloc";
  EXPECT_EQ(point["first_ops"][1]["zero_ns"], 0);
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

TEST_F(PointTest, NoZeroingIsClaimedOnlyOfAWholeAuditThatCouldSeeIt) {
  EXPECT_FALSE(has_no_zeroing(audit_pass(0, 0, 0, PassResult::Status::kCrashed, "killed")));
  EXPECT_FALSE(has_no_zeroing(audit_pass(100, 0, kByMemset)));
  for (auto reason : {&SampleBlock::na_zeroed, &SampleBlock::na_populated}) {
    Passes passes;
    passes.timing = timing_pass(8);
    passes.audit = audit_pass(0, 0, 0);
    std::strcpy(&(const_cast<SampleBlock&>(passes.audit.samples()).*reason)[0], "blind");
    EXPECT_FALSE(has_no_zeroing(passes.audit));
    EXPECT_TRUE(is_not_available(json(passes)["zero_ns"]));
  }
}

TEST_F(PointTest, ADifferenceBelowZeroTellsNothing) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(1 << 20, 1 << 20, kByInline);
  passes.differential = make_pass(4, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 4; ++i) {
      // The first two are warm-up.
      op(samples, i).calloc_ns = i < 2 ? 9000 : 200;
      op(samples, i).malloc_ns = 300;
    }
  });
  EXPECT_TRUE(is_not_available(json(passes)["zero_ns"]));
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

/// The passes of a case that received 1000 bytes in each operation.
Passes receiving_passes() {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(4096, 3096, kByMemset);
  for (PassResult* pass : {&passes.timing, &passes.audit}) {
    auto& samples = const_cast<SampleBlock&>(pass->samples());
    samples.receives = 1;
    for (std::size_t i = 0; i < 8; ++i) op(samples, i).received_bytes = i == 0 ? 7 : 1000;
  }
  const_cast<SampleBlock&>(passes.timing.samples()).transfer = {100, 100'000, 2'000'000, 1'000'000, 50};
  return passes;
}

TEST_F(PointTest, WhatIsReceivedIsRelatedToTimeFaultsAndZeroedBytes) {
  const Json transfer = json(receiving_passes())["transfer"];
  EXPECT_EQ(transfer["ops"], 100);
  EXPECT_EQ(transfer["received_bytes"], 1000);
  EXPECT_DOUBLE_EQ(transfer["mb_per_s"], 50);      // 0.1 MB in 2 ms
  EXPECT_DOUBLE_EQ(transfer["cpu_s_per_gb"], 10);  // 1 ms for 0.1 MB
  EXPECT_DOUBLE_EQ(transfer["faults_per_mb"], 500);
  EXPECT_DOUBLE_EQ(transfer["zeroed_per_received_byte"], 4.096);
  EXPECT_DOUBLE_EQ(transfer["redundant_per_received_byte"], 3.096);
}

TEST_F(PointTest, ACaseThatReceivesNothingHasNoTransfer) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  EXPECT_FALSE(json(passes).contains("transfer"));
}

TEST_F(PointTest, AReceiveThatBrokeOffHasNoRatesButAReason) {
  Passes passes = receiving_passes();
  passes.timing = make_pass(
      0, [](SampleBlock& samples) { samples.receives = 1; }, PassResult::Status::kFailed, "no server");
  const Json transfer = json(passes)["transfer"];
  for (const char* figure : {"mb_per_s", "cpu_s_per_gb", "faults_per_mb"}) {
    EXPECT_EQ(transfer[figure], (Json{{"na", "timing pass: no server"}})) << figure;
  }
  EXPECT_DOUBLE_EQ(transfer["zeroed_per_received_byte"], 4.096);
}

TEST_F(PointTest, FaultsThatTheKernelDoesNotTellAreNotAvailable) {
  Passes passes = receiving_passes();
  const_cast<SampleBlock&>(passes.timing.samples()).transfer.faults = kNotMeasured;
  const Json transfer = json(passes)["transfer"];
  EXPECT_TRUE(is_not_available(transfer["faults_per_mb"]));
  EXPECT_DOUBLE_EQ(transfer["mb_per_s"], 50);
}

TEST_F(PointTest, TouchingIsAFigureOfEachOperationWhereThereWasSome) {
  Passes passes;
  passes.timing = timing_pass(8);
  EXPECT_EQ(json(passes)["first_ops"][0]["touch_ns"], (Json{{"na", "nothing is touched"}}));
  for (std::size_t i = 0; i < 8; ++i) op(const_cast<SampleBlock&>(passes.timing.samples()), i).touch_ns = 42;
  EXPECT_EQ(json(passes)["first_ops"][0]["touch_ns"], 42);
}

}  // namespace
}  // namespace zerotax
