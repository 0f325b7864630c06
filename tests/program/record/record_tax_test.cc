#include <gtest/gtest.h>

#include <memory>

#include "record/tax.h"
#include "small_pages.h"

namespace zerotax::record {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::unique_ptr<ProcessSlot> ended_process() {
  auto slot = std::make_unique<ProcessSlot>();
  slot->holdings.closed = 1;
  slot->holdings.minor_faults = 100'000;
  return slot;
}

TEST(KernelPart, IsWhatIsHeldAndWhatWasReturnedButNotWhatWasTakenOverOrCopied) {
  ONLY_WITH_SMALL_PAGES();
  const auto slot = ended_process();
  slot->holdings.at_end_bytes = 10 * kMiB;
  slot->holdings.swapped_bytes = 2 * kMiB;
  slot->holdings.returned_bytes = 100 * kMiB;
  slot->holdings.copied_bytes = kMiB;
  slot->holdings.at_start_bytes = 3 * kMiB;
  slot->holdings.peak_bytes = 20 * kMiB;
  const KernelPart part = kernel_part(*slot);
  EXPECT_EQ(part.zeroed, (10 + 2 + 100 - 1 - 3) * kMiB);
  EXPECT_EQ(part.refilled, (10 + 2 + 100 - 20) * kMiB) << "the bytes held at the peak had to be zeroed once";
  EXPECT_EQ(part.faults, part.zeroed / 4096);
}

TEST(KernelPart, NothingReturnedIsNothingRefilled) {
  const auto slot = ended_process();
  slot->holdings.at_end_bytes = 50 * kMiB;
  EXPECT_EQ(kernel_part(*slot).refilled, 0U) << "the peak may be at the end, although no sample was taken there";
  EXPECT_EQ(kernel_part(*slot).peak, 50 * kMiB);
}

TEST(KernelPart, AHugePageIsOneFault) {
  ONLY_WITH_SMALL_PAGES();
  const auto slot = ended_process();
  slot->holdings.at_end_bytes = 8 * kMiB + 4096;
  slot->holdings.huge_bytes = 8 * kMiB;
  EXPECT_EQ(kernel_part(*slot).faults, 5U);
}

TEST(KernelPart, FaultsAreNeverMoreThanTheKernelCounted) {
  const auto slot = ended_process();
  slot->holdings.at_end_bytes = 50 * kMiB;
  slot->holdings.minor_faults = 30;
  slot->holdings.own_faults = 10;
  EXPECT_EQ(kernel_part(*slot).faults, 20U) << "with larger folios, one fault populates several pages";
}

TEST(KernelPart, OfAKilledProcessNothingIsClaimed) {
  const auto slot = ended_process();
  slot->holdings.closed = 0;
  EXPECT_NE(kernel_part(*slot).why_not, "");
  const KernelMetrics metrics = kernel_part(*slot).metrics({});
  for (const Count& each : {metrics.zeroed_bytes, metrics.huge_bytes, metrics.fresh_bytes, metrics.refilled_bytes,
                            metrics.returned_bytes, metrics.peak_bytes, metrics.zero_fill_faults, metrics.minor_faults,
                            metrics.fault_cpu_ns, metrics.zeroed_at_most_bytes}) {
    EXPECT_FALSE(each);
  }
}

TEST(KernelPart, BoundsThatAreNearAreOneFigure) {
  KernelPart part;
  part.why_not = "the end of the process was not seen";
  part.zeroed = 98 * kMiB;
  part.unseen = 2 * kMiB;
  EXPECT_EQ(part.metrics({}).zeroed_bytes, 99 * kMiB);
  part.unseen = 3 * kMiB;
  EXPECT_FALSE(part.metrics({}).zeroed_bytes);
  EXPECT_EQ(part.metrics({}).zeroed_at_most_bytes, 101 * kMiB);
}

const Tally nothing{};

KernelPart refilling() {
  KernelPart part;
  part.zeroed = 100 * kMiB;
  part.refilled = 75 * kMiB;
  part.faults = 25'600;
  part.minor_faults = 25'700;
  return part;
}

std::uint64_t row_ns(const Tax& tax, Cause cause) {
  for (const TaxRow& row : tax.rows) {
    if (row.cause == cause) return row.cpu_ns.value_or(0);
  }
  ADD_FAILURE() << word(cause);
  return 0;
}

TEST(RecordTax, TheKernelsTimeIsDividedByFreshAndRefilledBytes) {
  const Tax tax = make_tax({nothing, refilling(), 1'000'000'000}, {0.5, {}, 3, ""});
  const auto whole = static_cast<std::uint64_t>(100 * kMiB * 0.5);
  EXPECT_EQ(row_ns(tax, Cause::kRefilled), whole * 3 / 4);
  EXPECT_EQ(row_ns(tax, Cause::kFresh), whole - whole * 3 / 4);
  EXPECT_FALSE(tax.capped);
}

TEST(RecordTax, TheFaultsInAStoreAreTheKernels) {
  auto sum = std::make_unique<Tally>();
  sum->zeroed[kInCalloc][20] = {1, kMiB, kMiB, kMiB / 4};
  // At 1 ns per byte, 256 faults of 4,096 bytes take half of the stores' time.
  sum->cost[kInCalloc] = {kMiB, 0, 256, 2 * kMiB, 0};
  const Tax tax = make_tax({*sum, {}, 100 * kMiB}, {1.0, {}, 1, ""});
  EXPECT_EQ(row_ns(tax, Cause::kRedundant) + row_ns(tax, Cause::kNeeded), kMiB);
  EXPECT_EQ(row_ns(tax, Cause::kRedundant), kMiB / 4);
}

TEST(RecordTax, StoresWithoutFaultsTakeWhatWasMeasured) {
  auto sum = std::make_unique<Tally>();
  sum->zeroed[kCleared][20] = {20, 20 * kMiB, 20 * kMiB, 20 * kMiB};
  // The first of 20 stores took all of the faults. At the cost of faults elsewhere in the run, these faults would
  // exceed the time of the whole store.
  sum->cost[kCleared] = {20 * kMiB, 0, 256, 2 * kMiB, 2 * kMiB - kMiB / 2};
  const Tax tax = make_tax({*sum, {}, 100 * kMiB}, {3.0, {}, 1, ""});
  EXPECT_EQ(row_ns(tax, Cause::kByProgram), 2 * kMiB - kMiB / 2);
}

TEST(RecordTax, EstimatesAreCutToTheTimeThatIsLeft) {
  auto sum = std::make_unique<Tally>();
  sum->returned[kByFree][kMunmap] = {1, kMiB, 600};
  sum->own_cpu_ns = 1000;
  const Tax tax = make_tax({*sum, refilling(), 3000}, {0.5, {}, 1, ""});
  EXPECT_TRUE(tax.capped);
  EXPECT_EQ(tax.cpu_ns, 2000U) << "no share includes the recorder's own time";
  EXPECT_EQ(row_ns(tax, Cause::kFresh) + row_ns(tax, Cause::kRefilled), 1400U);
  EXPECT_LE(*tax.zeroing_at_most_cpu_ns, tax.cpu_ns);
}

TEST(RecordTax, TheAdviceIsAboutTheWorstRow) {
  auto sum = std::make_unique<Tally>();
  sum->returned[kByFree][kBrk] = {1, 75 * kMiB, 600};
  const Tax tax = make_tax({*sum, refilling(), 100'000'000}, {0.5, {}, 1, ""});
  EXPECT_EQ(tax.advice_about, Cause::kRefilled);
  EXPECT_EQ(tax.advice, "") << "put_advice() adds the advice";
  const Tax none = make_tax({nothing, {}, 100'000'000}, {0.5, {}, 1, ""});
  EXPECT_NE(none.advice.find("Nothing to gain"), std::string::npos);
  EXPECT_FALSE(none.advice_about);
}

TEST(RecordTax, ReturningMemoryCountsWithRefillingIt) {
  auto sum = std::make_unique<Tally>();
  KernelPart part;
  part.zeroed = 100 * kMiB;
  part.refilled = 49 * kMiB;
  sum->returned[kByFree][kBrk] = {1, 49 * kMiB, 5 * kMiB};
  EXPECT_EQ(make_tax({*sum, part, 1'000'000'000}, {1.0, {}, 3, ""}).advice_about, Cause::kRefilled);
}

bool says_nothing_to_gain(const Tax& tax) { return tax.advice.find("Nothing to gain") != std::string::npos; }

TEST(RecordTax, WhatWasNotSeenIsABoundAndNeverZero) {
  KernelPart part = refilling();
  part.why_not = "the end of the process was not seen";
  part.unseen = 100 * kMiB;
  const Tax tax = make_tax({nothing, part, 1'000'000'000}, {0.5, {}, 1, ""});
  const auto whole = static_cast<std::uint64_t>(100 * kMiB * 0.5);
  EXPECT_EQ(tax.zeroing_at_least_cpu_ns, whole);
  EXPECT_EQ(tax.zeroing_at_most_cpu_ns, 2 * whole);
  EXPECT_FALSE(tax.share_of_cpu || tax.zeroing_cpu_ns || tax.kernel_cpu_ns);
}

TEST(RecordTax, NothingToGainIsSaidOnlyWhereEverythingIsKnown) {
  EXPECT_TRUE(says_nothing_to_gain(make_tax({nothing, {}, 1'000'000'000}, {0.5, {}, 1, ""})));
  KernelPart unlimited;
  unlimited.why_not = "the end of the process was not seen";
  unlimited.unlimited = true;
  EXPECT_FALSE(says_nothing_to_gain(make_tax({nothing, unlimited, 1'000'000'000}, {0.5, {}, 1, ""})));
  KernelPart large;
  large.why_not = unlimited.why_not;
  large.unseen = 100 * kMiB;
  EXPECT_FALSE(says_nothing_to_gain(make_tax({nothing, large, 1'000'000'000}, {0.5, {}, 1, ""})));
  KernelPart small = large;
  small.unseen = 4096;
  EXPECT_TRUE(says_nothing_to_gain(make_tax({nothing, small, 1'000'000'000}, {0.5, {}, 1, ""})));
  EXPECT_FALSE(says_nothing_to_gain(make_tax({nothing, {}, 1'000'000'000, {"not seen"}}, {0.5, {}, 1, ""})));
  const NotRecorded missed{1, 5000, 500'000'000};
  const Tax without = make_tax({nothing, {}, 1'000'000'000, {}, missed}, {0.5, {}, 1, ""});
  EXPECT_EQ(without.cpu_ns, 500'000'000U) << "no denominator includes time that was not recorded";
  EXPECT_FALSE(says_nothing_to_gain(without));
}

TEST(RecordTax, SmallStoresTookTimeThoughNobodyTimedThem) {
  auto sum = std::make_unique<Tally>();
  sum->zeroed[kInCalloc][14] = {100'000, 100'000 * std::uint64_t{16'384}, 0, 0};
  const Tax tax = make_tax({*sum, {}, 200'000'000}, {0.5, {}, 1, ""});
  EXPECT_FALSE(tax.share_of_cpu);
  EXPECT_FALSE(says_nothing_to_gain(tax));
}

/// The tax of a second of CPU time. `share` is the share of stores in per mille, followed by the ends of its interval.
Tax sampled_tax(std::uint64_t share, std::uint64_t least, std::uint64_t most, const std::string& too_few = "") {
  constexpr std::uint64_t kPerMille = 1'000'000;
  OutsideTimes times;
  times.user_ns = times.system_ns = 1'000'000'000;
  times.zero_fills = SampledTime{0, {0, kPerMille}};
  times.returning = SampledTime{0, {0, kPerMille}};
  times.stores = SampledTime{share * kPerMille, {least * kPerMille, most * kPerMille}};
  times.too_few = too_few;
  times.longer = "watch for about 40 s";
  if (!too_few.empty()) {
    times.zero_fills.reset();
    times.returning = times.stores = NotAvailable{too_few};
  }
  return make_tax({nothing, {}, 1'000'000'000, {}, {}, &times}, {0.5, {}, 1, ""});
}

bool says_no_verdict(const Tax& tax) {
  return tax.advice.starts_with("No verdict: ") && tax.advice.find("watch for about 40 s") != std::string::npos;
}

TEST(RecordTax, TooFewSamplesAreNoVerdict) {
  const Tax tax = sampled_tax(0, 0, 700, "too few samples: 3");
  EXPECT_TRUE(says_no_verdict(tax)) << tax.advice;
  EXPECT_FALSE(tax.share_of_cpu || tax.zeroing_cpu_ns || tax.kernel_cpu_ns || is_worth_advice(tax));
  for (const TaxRow& row : tax.rows) EXPECT_FALSE(row.cpu_ns || row.share_of_cpu) << word(row.cause);
}

TEST(RecordTax, AnIntervalOnBothSidesOfOnePercentIsNoVerdict) {
  EXPECT_TRUE(says_no_verdict(sampled_tax(0, 0, 70)));
  EXPECT_TRUE(says_no_verdict(sampled_tax(20, 2, 70)));
  EXPECT_FALSE(is_worth_advice(sampled_tax(20, 2, 70))) << "no command is proposed if only chance favors it";
}

TEST(RecordTax, AnIntervalOnOneSideOfOnePercentIsAVerdict) {
  const Tax none = sampled_tax(0, 0, 4);
  EXPECT_TRUE(says_nothing_to_gain(none)) << none.advice;
  const Tax much = sampled_tax(50, 30, 80);
  EXPECT_FALSE(says_nothing_to_gain(much) || says_no_verdict(much)) << much.advice;
  EXPECT_TRUE(is_worth_advice(much));
  EXPECT_EQ((*much.zeroing_cpu_interval_ns)[1], 82'000'000U) << "the sum over all causes";
}

TEST(RecordTax, OtherFaultsTakeNoMoreThanTheCausesLeave) {
  KernelPart part = refilling();
  part.minor_faults = part.faults + 20'000;
  // The zeroing of 100 MiB takes 52 ms. The other faults, 78 MiB, would take 41 ms.
  const Tax tax = make_tax({nothing, part, 60'000'000}, {0.5, {}, 1, ""});
  EXPECT_TRUE(tax.other_faults.capped);
  EXPECT_EQ(tax.other_faults.estimated_cpu_ns + tax.zeroing_at_least_cpu_ns, tax.cpu_ns);
  EXPECT_FALSE(make_tax({nothing, part, 600'000'000}, {0.5, {}, 1, ""}).other_faults.capped);
}

TEST(RecordTax, AProgramTookAtLeastWhatItsThreadsMeasured) {
  auto sum = std::make_unique<Tally>();
  sum->returned[kByFree][kMunmap] = {1, kMiB, 900};
  sum->own_cpu_ns = 700;
  const Tax tax = make_tax({*sum, {}, 1000}, {0.5, {}, 1, ""});
  EXPECT_EQ(tax.cpu_ns, 900U);
  EXPECT_LE(tax.zeroing_at_least_cpu_ns, tax.cpu_ns);
}

TEST(RecordTax, WhatIsBesideZeroingIsNoticedFromOnePercentOn) {
  KernelPart part = refilling();
  part.peak = 99 * kMiB;
  const auto noticed = [&](BesideRow row) {
    return make_tax({nothing, part, 1'000'000'000, {}, {}, nullptr, {std::move(row)}}, {0.5, {}, 1, ""})
        .beside->front()
        .noticed;
  };
  EXPECT_TRUE(noticed({Beside::kSharedMemory, 2 * kMiB, {}}));
  EXPECT_FALSE(noticed({Beside::kSharedMemory, kMiB / 2, {}}));
  EXPECT_TRUE(noticed({Beside::kExit, {}, 10'000'000}));
  EXPECT_FALSE(noticed({Beside::kExit, {}, 9'000'000}));
  EXPECT_FALSE(noticed({Beside::kThrottled, {}, NotAvailable{"unknown"}}));
}

}  // namespace
}  // namespace zerotax::record
