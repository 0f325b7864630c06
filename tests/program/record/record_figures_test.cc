#include <gtest/gtest.h>

#include <memory>

#include "os/page.h"
#include "record/metrics.h"

namespace zerotax::record {
namespace {

/// A thread with 3 calls to calloc for 100 bytes and 2 calls for 1 MiB. Half of the large blocks' bytes were zeroed, a
/// quarter redundantly. One block was cleared by hand.
std::unique_ptr<ThreadBlock> some_thread() {
  auto block = std::make_unique<ThreadBlock>();
  block->calls[kCalloc][6] = {3, 300};
  block->zeroed[kInCalloc][6] = {3, 300, 0, 0};
  block->calls[kCalloc][20] = {2, 2 << 20};
  block->zeroed[kInCalloc][20] = {2, 1 << 20, 1 << 20, 1 << 18};
  block->cost[kInCalloc] = {1 << 20, 5000, 17, 4000, 0};
  block->calls[kMalloc][19] = {1, 600'000};
  block->zeroed[kByHand][19] = {1, 600'000, 600'000, 600'000};
  block->cost[kByHand] = {600'000, 2000, 3, 1500, 0};
  block->own_ns = 11;
  return block;
}

TEST(RecordFigures, SumsOverSizes) {
  const auto thread = some_thread();
  const Metrics metrics = metrics_of(*thread);
  EXPECT_EQ(metrics.calloc_calls, 5U);
  EXPECT_EQ(metrics.requested_bytes, std::uint64_t{(2 << 20) + 300});
  EXPECT_EQ(metrics.zeroed_bytes, std::uint64_t{(1 << 20) + 300});
  EXPECT_EQ(metrics.redundant_zeroed_bytes, std::uint64_t{1 << 18});
  EXPECT_EQ(metrics.examined_zeroed_bytes, 1U << 20);
  EXPECT_EQ(metrics.zero_ns, 5000U);
  EXPECT_EQ(metrics.zero_faults, 17U);
  EXPECT_EQ(metrics.by_hand.zeroed_bytes, 600'000U);
  EXPECT_EQ(metrics.by_hand.zero_ns, 2000U);
  EXPECT_EQ(metrics.malloc_calls, 1U);
  EXPECT_EQ(zeroing_cost(*thread).ns, 7000U) << "includes the program's own stores";
}

TEST(RecordFigures, WhatWasNotTimedIsNotAvailable) {
  auto block = std::make_unique<ThreadBlock>();
  block->calls[kCalloc][6] = {3, 300};
  block->zeroed[kInCalloc][6] = {3, 300, 0, 0};
  const Metrics metrics = metrics_of(*block);
  EXPECT_FALSE(metrics.zero_ns || metrics.zero_faults || metrics.redundant_zeroed_bytes);
  EXPECT_EQ(metrics.by_hand.zero_ns, 0U) << "no bytes were zeroed by hand, so the number is 0 and known";
}

TEST(RecordFigures, LargeStoresWhosePagesWereNotSeenAreTimedButNotJudged) {
  auto block = std::make_unique<ThreadBlock>();
  block->zeroed[kInCalloc][20] = {1, 1 << 20, 0, 0};
  block->cost[kInCalloc] = {1 << 20, 5000, 17, 4000, 0};
  const Metrics metrics = metrics_of(*block);
  EXPECT_EQ(metrics.zero_ns, 5000U);
  EXPECT_NE(metrics.redundant_zeroed_bytes.why().find("pagemap"), std::string::npos);
}

TEST(RecordFigures, NothingIsAllZeros) {
  const auto nothing = std::make_unique<Tally>();
  EXPECT_EQ(metrics_of(*nothing).zeroed_bytes, 0U);
  EXPECT_EQ(metrics_of(*nothing).zero_ns, 0U);
  EXPECT_TRUE(histogram_of(*nothing).empty());
}

TEST(RecordFigures, AnEstimateOfReturnsHasAnIntervalWithinWhatIsCertain) {
  const std::uint64_t kPage = page_bytes();
  EXPECT_EQ(returned_interval({}).below + returned_interval({}).above, 0U);
  // 100 samples, each of which returned the only page of its range. Of the other calls, 3 in 100 may have returned no
  // page. No call can have returned more than one page.
  const SmallReturns alike{100 * kPage, 3100 * kPage, kPage, 0};
  EXPECT_EQ(returned_interval(alike).below, 96 * kPage);
  EXPECT_EQ(returned_interval(alike).above, 0U);
  // Two samples, which returned two pages. The lower bound is these two pages; the upper bound adds the ranges of all
  // other calls.
  const SmallReturns few{2 * kPage, std::uint64_t{62} * 12 * kPage, std::uint64_t{12} * kPage, 4};
  EXPECT_EQ(returned_interval(few).below, 62 * kPage);
  EXPECT_EQ(returned_interval(few).above, (2 + 62 * 12 - 64) * kPage);
  SmallReturns both = alike;
  both.add(few);
  EXPECT_EQ(both.widest_bytes, 12 * kPage);
  EXPECT_EQ(both.bytes, 102 * kPage);
}

TEST(RecordFigures, RowsOfTheHistogramBorderOnEachOther) {
  const auto rows = histogram_of(*some_thread());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].from_bytes, 64U);
  EXPECT_EQ(rows[0].below_bytes, 128U);
  EXPECT_EQ(rows[2].from_bytes, 1U << 20);
  EXPECT_EQ(rows[2].zeroed_bytes, 1U << 20);
  EXPECT_EQ(rows[1].by_hand_redundant_zeroed_bytes, 600'000U);
}

}  // namespace
}  // namespace zerotax::record
