#include "point/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace zerotax {
namespace {

std::vector<std::string> keys_in(const std::vector<const MetricRow*>& rows) {
  std::vector<std::string> keys;
  keys.reserve(rows.size());
  for (const MetricRow* row : rows) keys.push_back(dotted_key(*row));
  return keys;
}

TEST(Metrics, EveryRowStandsAtThePlaceOfItsName) {
  for (std::size_t i = 0; i < kMetrics; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(metric_rows()[i].metric), i);
    EXPECT_EQ(&row_of(static_cast<Metric>(i)), &metric_rows()[i]);
  }
}

TEST(Metrics, EveryRowSaysWhatPeopleNeedToKnow) {
  for (const MetricRow& row : metric_rows()) {
    const std::string key = dotted_key(row);
    EXPECT_GT(std::string(row.key).size(), 1U) << key;
    EXPECT_FALSE(std::string(row.name).empty()) << key;
    EXPECT_TRUE(std::string(row.description).ends_with(".")) << key;
    EXPECT_EQ(words_of(row).empty(), row.kind != MetricKind::kWord) << key;
    EXPECT_EQ(std::string(row.unit).empty(), row.kind == MetricKind::kWord) << key;
    if (row.kind == MetricKind::kTimeSpread || row.kind == MetricKind::kDuration) {
      EXPECT_STREQ(row.unit, "ns") << key;
    }
    if (row.kind == MetricKind::kBytes) {
      EXPECT_STREQ(row.unit, "bytes") << key;
    }
  }
}

TEST(Metrics, NoKeyAndNoColumnIsThereTwice) {
  std::set<std::string> keys;
  std::set<std::string> columns;
  for (const MetricRow& row : metric_rows()) {
    EXPECT_TRUE(keys.insert(dotted_key(row)).second) << dotted_key(row);
    for (const std::string& column : csv_columns(row)) EXPECT_TRUE(columns.insert(column).second) << column;
  }
}

TEST(Metrics, WhatTheTimingPassTimesComesFromTheProbe) {
  for (const MetricRow& row : metric_rows()) {
    if (row.kind != MetricKind::kTimeSpread) continue;
    EXPECT_EQ(row.pass, MetricPass::kTiming) << dotted_key(row);
    EXPECT_NE(row.source.of, nullptr) << dotted_key(row);
  }
}

TEST(Metrics, ABoundIsAWordOfTheSamePass) {
  for (const MetricRow& row : metric_rows()) {
    if (!row.bound) continue;
    EXPECT_EQ(words_of(row_of(*row.bound)), (std::vector<std::string>{"exact", "at most"}));
    EXPECT_EQ(row_of(*row.bound).pass, row.pass);
  }
}

TEST(Metrics, AreFoundByTheirKeys) {
  EXPECT_EQ(metric_of_key("zeroed_bytes"), Metric::kZeroedBytes);
  EXPECT_EQ(metric_of_key("fork.child.copies"), Metric::kChildCopies);
  EXPECT_EQ(metric_of_key("populated_bytes"), Metric::kPopulatedBytes);
  EXPECT_EQ(metric_of_key("fork.populated_bytes"), Metric::kForkPopulatedBytes);
  EXPECT_EQ(metric_of_key("size_bytes"), std::nullopt);
}

TEST(Metrics, ATimeHasThreeColumnsAndWhatHasNoneIsLeftOut) {
  using Columns = std::vector<std::string>;
  EXPECT_EQ(csv_columns(row_of(Metric::kForkNs)), (Columns{"fork_ns_median", "fork_ns_p05", "fork_ns_p95"}));
  EXPECT_EQ(csv_columns(row_of(Metric::kForkPopulatedBytes)), (Columns{"populated_at_fork_bytes"}));
  EXPECT_EQ(csv_columns(row_of(Metric::kHome)), Columns{});
}

TEST(Metrics, KeysOfFirstOperationsAndModesKeepTheirOrder) {
  const auto first = keys_in(first_op_rows());
  const std::vector<std::string> begin{"calloc_ns", "touch_ns", "free_ns", "zero_ns", "zeroed_bytes"};
  ASSERT_GT(first.size(), begin.size());
  EXPECT_TRUE(std::equal(begin.begin(), begin.end(), first.begin()));
  EXPECT_EQ(keys_in(mode_rows(MetricPass::kTiming)), (std::vector<std::string>{"calloc_faults", "calloc_ns"}));
  EXPECT_EQ(keys_in(mode_rows(MetricPass::kAudit)),
            (std::vector<std::string>{"zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "zeroed_bound"}));
}

}  // namespace
}  // namespace zerotax
