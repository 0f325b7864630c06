#include <gtest/gtest.h>

#include <cstring>

#include "made_passes.h"
#include "point/point.h"
#include "real_cpu.h"

namespace zerotax {
namespace {

class ZeroingTimeTest : public PointTest {};

TEST_F(ZeroingTimeTest, NothingZeroedTakesNoTime) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  EXPECT_TRUE(has_no_zeroing(passes.audit));
  EXPECT_EQ(json(passes)["zero_ns"], 0);
}

TEST_F(ZeroingTimeTest, InlineZeroingIsTimedByTheDifference) {
  ONLY_ON_A_REAL_CPU();
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
  // Seven tenths of the timing pass's median. The median is over the last four operations, which took 1 ms, 105, 106
  // and 107 ns.
  EXPECT_EQ(point["calloc_ns"]["median"], kSteadyOfEight);
  EXPECT_EQ(point["zero_ns"], static_cast<int>(0.7 * kSteadyOfEight));
  EXPECT_EQ(point["zero_ns_method"], "calloc minus malloc");
  EXPECT_EQ(point["zeroed_method"], "inline");
}

TEST_F(ZeroingTimeTest, ADifferenceThatIsNoZeroingIsNotAvailable) {
  ONLY_ON_A_REAL_CPU();
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

TEST_F(ZeroingTimeTest, MemsetsTooShortToTimeAreTimedByTheDifferenceOrNotAtAll) {
  ONLY_ON_A_REAL_CPU();
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

TEST_F(ZeroingTimeTest, TimeOfZeroingIsOfOperationsThatZeroed) {
  ONLY_ON_A_REAL_CPU();
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
  EXPECT_EQ(point["first_ops"][0]["zero_ns"], 1'000'000) << "all time of that calloc";
  EXPECT_EQ(point["first_ops"][1]["zero_ns"], 0);
}

TEST_F(ZeroingTimeTest, NoZeroingIsClaimedOnlyOfAWholeAuditThatCouldSeeIt) {
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

TEST_F(ZeroingTimeTest, ADifferenceBelowZeroTellsNothing) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(1 << 20, 1 << 20, kByInline);
  passes.differential = make_pass(4, [](SampleBlock& samples) {
    for (std::size_t i = 0; i < 4; ++i) {
      // The first two operations are warm-up.
      op(samples, i).calloc_ns = i < 2 ? 9000 : 200;
      op(samples, i).malloc_ns = 300;
    }
  });
  EXPECT_TRUE(is_not_available(json(passes)["zero_ns"]));
}

}  // namespace
}  // namespace zerotax
