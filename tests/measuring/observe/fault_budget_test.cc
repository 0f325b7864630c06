#include <gtest/gtest.h>

#include "observe/fault_data.h"
#include "observe/fault_tracer.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStart = 1000 * kMs;

// The clocks of a program that keeps one processor busy.
FaultBudget::Now at(std::uint64_t ns) { return {ns, ns}; }

TEST(FaultBudget, LetsASlowProgramHaveEachOfItsFaultsRecorded) {
  FaultBudget budget(1, 10'000, 24'000);
  for (std::uint64_t ms = 0; ms < 60'000; ms += 10) EXPECT_TRUE(budget.spend(99, at(kStart + ms * kMs)));
}

TEST(FaultBudget, HoldsAFastOneToItsRateInWindowsAtRandomMoments) {
  FaultBudget budget(1, 10'000, 24'000);
  std::uint64_t recorded = 0;
  std::uint64_t windows = 0;
  bool recording = true;
  // A million faults per second, reported each millisecond.
  for (std::uint64_t now = kStart; now < kStart + 10'000 * kMs; now += kMs) {
    if (!recording) {
      recording = budget.may_open(at(now));
      if (!recording) continue;
      budget.open(kMs / 100);
      ++windows;
      continue;
    }
    recorded += 1000;
    recording = budget.spend(1000, at(now));
    if (!recording) budget.close(at(now));
  }
  EXPECT_LE(recorded, 10 * 10'000 + 24'000 + 2000);
  EXPECT_GE(recorded, 10 * 10'000);
  EXPECT_GT(windows, 50U);
}

TEST(FaultBudget, OpensNoWindowAfterAnotherWhoseOpeningTookLong) {
  FaultBudget budget(1, 10'000, 24'000);
  EXPECT_FALSE(budget.spend(24'000, at(kStart)));
  budget.close(at(kStart));
  budget.open(100 * kMs);
  EXPECT_FALSE(budget.may_open(at(kStart + 1'999 * kMs)));
  EXPECT_TRUE(budget.may_open(at(kStart + 2'001 * kMs)));
}

TEST(FaultBudget, CountsByTheTimeThatTheProgramUsesWhichMayBeLittle) {
  FaultBudget budget(1, 10'000, 24'000);
  EXPECT_FALSE(budget.spend(24'000, at(kStart)));
  budget.close(at(kStart));
  budget.open(0);
  EXPECT_FALSE(budget.may_open({kStart + 20 * kMs, kStart})) << "the program waited all the time";
  EXPECT_TRUE(budget.may_open({kStart + 400 * kMs, kStart + 100 * kMs}));
}

TEST(Shares, AddUpToTheWhole) {
  for (const std::uint64_t parts : {1U, 7U, 100U, 999U}) {
    Shares shares(12'345, parts);
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < parts; ++i) {
      const std::uint64_t share = shares.next();
      EXPECT_GE(share, 12'345 / parts);
      EXPECT_LE(share, 12'345 / parts + 1);
      all += share;
    }
    EXPECT_EQ(all, 12'345U);
    EXPECT_EQ(shares.next(), 1U) << "the next fault stands only for itself";
  }
  EXPECT_EQ(Shares().next(), 1U);
}

TEST(FaultSampling, IsTheLessCertainTheMoreIsUnseenAndTheMoreWindowsDiffer) {
  ClassCounts half;
  half.copies = 50;
  ClassCounts none;
  FaultSampling little;
  little.add_gap(100, 100, half);
  FaultSampling much;
  much.add_gap(10'000, 100, half);
  EXPECT_GT(much.variance.copies, little.variance.copies);
  FaultSampling steady = much;
  steady.add_gap(10'000, 100, half);
  FaultSampling changing = much;
  changing.add_gap(10'000, 100, none);
  EXPECT_GT(changing.variance.copies, steady.variance.copies);
  EXPECT_GT(steady.variance.zero_fills, 0) << "no zero-fill among a hundred faults does not mean none at all";
}

}  // namespace
}  // namespace zerotax
