#include <gtest/gtest.h>

#include <memory>

#include "record/tax.h"

namespace zerotax::record {
namespace {

using namespace record;

constexpr std::uint64_t kMiB = 1 << 20;

std::unique_ptr<ProcessSlot> ended_process() {
  auto slot = std::make_unique<ProcessSlot>();
  slot->holdings.closed = 1;
  slot->holdings.minor_faults = 100'000;
  return slot;
}

TEST(KernelPart, IsWhatIsHeldAndWhatWasReturnedButNotWhatWasTakenOverOrCopied) {
  const auto slot = ended_process();
  slot->holdings.at_end_bytes = 10 * kMiB;
  slot->holdings.swapped_bytes = 2 * kMiB;
  slot->holdings.returned_bytes = 100 * kMiB;
  slot->holdings.copied_bytes = kMiB;
  slot->holdings.at_start_bytes = 3 * kMiB;
  slot->holdings.peak_bytes = 20 * kMiB;
  const KernelPart part = kernel_part(*slot);
  EXPECT_EQ(part.zeroed, (10 + 2 + 100 - 1 - 3) * kMiB);
  EXPECT_EQ(part.refilled, (10 + 2 + 100 - 20) * kMiB) << "what it held at its peak had to be zeroed once";
  EXPECT_EQ(part.faults, part.zeroed / 4096);
}

TEST(KernelPart, NothingReturnedIsNothingRefilled) {
  const auto slot = ended_process();
  slot->holdings.at_end_bytes = 50 * kMiB;
  EXPECT_EQ(kernel_part(*slot).refilled, 0U) << "the end may be the peak, though it was never looked at before";
  EXPECT_EQ(kernel_part(*slot).peak, 50 * kMiB);
}

TEST(KernelPart, AHugePageIsOneFault) {
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
  EXPECT_EQ(kernel_part(*slot).faults, 20U) << "larger folios: one fault for several pages";
}

TEST(KernelPart, OfAKilledProcessNothingIsClaimed) {
  const auto slot = ended_process();
  slot->holdings.closed = 0;
  EXPECT_NE(kernel_part(*slot).why_not, "");
  const Json json = kernel_part(*slot).json({});
  for (const auto& [key, figure] : json.items()) EXPECT_TRUE(figure.contains("na")) << key;
}

KernelPart refilling() {
  KernelPart part;
  part.zeroed = 100 * kMiB;
  part.refilled = 75 * kMiB;
  part.faults = 25'600;
  part.minor_faults = 25'700;
  return part;
}

std::uint64_t row_ns(const Tax& tax, const std::string& cause) {
  for (const TaxRow& row : tax.rows) {
    if (cause == cause_name(row.cause)) return row.cpu_ns;
  }
  ADD_FAILURE() << cause;
  return 0;
}

TEST(RecordTax, TheKernelsTimeIsDividedByFreshAndRefilledBytes) {
  const Tax tax = make_tax({}, refilling(), {0.5, {}, 3, false}, 1'000'000'000);
  const auto whole = static_cast<std::uint64_t>(100 * kMiB * 0.5);
  EXPECT_EQ(row_ns(tax, "refilled"), whole * 3 / 4);
  EXPECT_EQ(row_ns(tax, "fresh"), whole - whole * 3 / 4);
  EXPECT_FALSE(tax.capped);
}

TEST(RecordTax, TheFaultsInAStoreAreTheKernels) {
  auto sum = std::make_unique<Tally>();
  sum->zeroed[kInCalloc][20] = {1, kMiB, kMiB, kMiB / 4};
  // 256 faults at 4096 bytes: half of its time at this price.
  sum->cost[kInCalloc] = {kMiB, 0, 256, 2 * kMiB};
  const Tax tax = make_tax(*sum, {}, {1.0, {}, 1, false}, 100 * kMiB);
  EXPECT_EQ(row_ns(tax, "redundant") + row_ns(tax, "needed"), kMiB);
  EXPECT_EQ(row_ns(tax, "redundant"), kMiB / 4);
}

TEST(RecordTax, EstimatesAreCutToTheTimeThatIsLeft) {
  auto sum = std::make_unique<Tally>();
  sum->returned[kByFree][kMunmap] = {1, kMiB, 600};
  sum->own_cpu_ns = 1000;
  const Tax tax = make_tax(*sum, refilling(), {0.5, {}, 1, false}, 3000);
  EXPECT_TRUE(tax.capped);
  EXPECT_EQ(tax.cpu_ns, 2000U) << "the recorder's own time is in no share";
  EXPECT_EQ(row_ns(tax, "fresh") + row_ns(tax, "refilled"), 1400U);
  EXPECT_LE(tax.zeroing_ns(), tax.cpu_ns);
}

TEST(RecordTax, TheAdviceIsAboutTheWorstRow) {
  auto sum = std::make_unique<Tally>();
  sum->returned[kByFree][kBrk] = {1, 75 * kMiB, 600};
  const Tax tax = make_tax(*sum, refilling(), {0.5, {}, 1, false}, 100'000'000);
  EXPECT_NE(tax_advice(tax, *sum, "/lib/libc.so.6").find("MALLOC_TRIM_THRESHOLD_"), std::string::npos);
  EXPECT_EQ(tax_advice(tax, *sum, "/lib/libjemalloc.so.2").find("MALLOC_TRIM_THRESHOLD_"), std::string::npos);
  const Tax cheap = make_tax({}, {}, {0.5, {}, 1, false}, 100'000'000);
  EXPECT_NE(tax_advice(cheap, {}, "").find("Nothing to gain"), std::string::npos);
}

}  // namespace
}  // namespace zerotax::record
