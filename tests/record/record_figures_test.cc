#include <gtest/gtest.h>

#include <memory>

#include "record/metrics.h"

namespace zerotax::record {
namespace {

using namespace record;

/// 3 callocs of 100 bytes, 2 of 1 MiB of which half was zeroed, a quarter redundantly; one block cleared by hand.
std::unique_ptr<ThreadBlock> some_thread() {
  auto block = std::make_unique<ThreadBlock>();
  block->calls[kCalloc][6] = {3, 300};
  block->zeroed[kInCalloc][6] = {3, 300, 0, 0};
  block->calls[kCalloc][20] = {2, 2 << 20};
  block->zeroed[kInCalloc][20] = {2, 1 << 20, 1 << 20, 1 << 18};
  block->cost[kInCalloc] = {1 << 20, 5000, 17, 4000};
  block->calls[kMalloc][19] = {1, 600'000};
  block->zeroed[kByHand][19] = {1, 600'000, 600'000, 600'000};
  block->cost[kByHand] = {600'000, 2000, 3, 1500};
  block->own_ns = 11;
  return block;
}

TEST(RecordFigures, SumsOverSizes) {
  RecordFigures figures;
  figures.add(*some_thread());
  const Json json = figures.json();
  EXPECT_EQ(json.at("calloc_calls"), 5);
  EXPECT_EQ(json.at("requested_bytes"), (2 << 20) + 300);
  EXPECT_EQ(json.at("zeroed_bytes"), (1 << 20) + 300);
  EXPECT_EQ(json.at("redundant_zeroed_bytes"), 1 << 18);
  EXPECT_EQ(json.at("examined_zeroed_bytes"), 1 << 20);
  EXPECT_EQ(json.at("zero_ns"), 5000);
  EXPECT_EQ(json.at("zero_faults"), 17);
  EXPECT_EQ(json.at("by_hand").at("zeroed_bytes"), 600'000);
  EXPECT_EQ(json.at("by_hand").at("zero_ns"), 2000);
  EXPECT_EQ(json.at("malloc_calls"), 1);
  EXPECT_EQ(figures.zero_ns(), 7000U) << "the program's own included";
}

TEST(RecordFigures, AddsUpTheSameEitherWay) {
  RecordFigures twice;
  twice.add(*some_thread());
  twice.add(*some_thread());
  RecordFigures one;
  one.add(*some_thread());
  RecordFigures sum;
  sum.add(one);
  sum.add(one);
  EXPECT_EQ(sum.json(), twice.json());
  EXPECT_EQ(sum.histogram(), twice.histogram());
  EXPECT_EQ(twice.json().at("calloc_calls"), 10);
}

TEST(RecordFigures, WhatWasNotTimedIsNotAvailable) {
  auto block = std::make_unique<ThreadBlock>();
  block->calls[kCalloc][6] = {3, 300};
  block->zeroed[kInCalloc][6] = {3, 300, 0, 0};
  RecordFigures figures;
  figures.add(*block);
  const Json json = figures.json();
  for (const char* key : {"zero_ns", "zero_faults", "redundant_zeroed_bytes"}) {
    EXPECT_TRUE(is_not_available(json.at(key))) << key;
  }
  EXPECT_EQ(json.at("by_hand").at("zero_ns"), 0) << "nothing was zeroed by hand: that is known";
}

TEST(RecordFigures, LargeStoresWhosePagesWereNotSeenAreTimedButNotJudged) {
  auto block = std::make_unique<ThreadBlock>();
  block->zeroed[kInCalloc][20] = {1, 1 << 20, 0, 0};
  block->cost[kInCalloc] = {1 << 20, 5000, 17, 4000};
  RecordFigures figures;
  figures.add(*block);
  EXPECT_EQ(figures.json().at("zero_ns"), 5000);
  EXPECT_NE(figures.json().at("redundant_zeroed_bytes").at("na").get<std::string>().find("pagemap"), std::string::npos);
}

TEST(RecordFigures, NothingIsAllZeros) {
  const Json json = RecordFigures().json();
  EXPECT_EQ(json.at("zeroed_bytes"), 0);
  EXPECT_EQ(json.at("zero_ns"), 0);
  EXPECT_EQ(RecordFigures().histogram(), Json::array());
}

TEST(RecordFigures, RowsOfTheHistogramBorderOnEachOther) {
  RecordFigures figures;
  figures.add(*some_thread());
  const Json rows = figures.histogram();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].at("from_bytes"), 64);
  EXPECT_EQ(rows[0].at("below_bytes"), 128);
  EXPECT_EQ(rows[2].at("from_bytes"), 1 << 20);
  EXPECT_EQ(rows[2].at("zeroed_bytes"), 1 << 20);
  EXPECT_EQ(rows[1].at("by_hand_redundant_zeroed_bytes"), 600'000);
}

}  // namespace
}  // namespace zerotax::record
