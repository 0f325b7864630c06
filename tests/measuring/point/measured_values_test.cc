#include <gtest/gtest.h>

#include "point/pass_metrics.h"
#include "point/point_document.h"
#include "real_cpu.h"
#include "run/planning.h"

namespace zerotax {
namespace {

constexpr std::size_t kOps = 8;

/// Passes of a case that forks. Every metric of every operation is `value`.
PassResult pass_of(std::int64_t value) {
  auto bytes = std::make_unique<unsigned char[]>(SampleBlock::bytes(kOps));
  auto& samples = *reinterpret_cast<SampleBlock*>(bytes.get());
  samples.request.ops = kOps;
  samples.ops_done = kOps;
  samples.forks = 1;
  for (std::size_t i = 0; i < kOps; ++i) {
    OpSample& op = (&samples.ops[0])[i];
    for (std::int64_t OpSample::*figure : kOpFigures) op.*figure = value;
    const WriteSample writes{value, value, value, value, value, value};
    op.fork = {value, value, value, value, writes, writes};
  }
  return {std::move(bytes), PassResult::Status::kOk, ""};
}

Point point_of_passes() {
  Plan plan;
  plan.allocators.push_back({"mine", "/p", {}, {}, "1"});
  add_points(plan, {{"calloc_loop"}, {4096}, {1.0}, {"main"}}, {});
  Passes passes;
  passes.audit = pass_of(1);
  passes.timing = pass_of(2);
  passes.faults = pass_of(3);
  passes.held = pass_of(4);
  passes.held_without = pass_of(5);
  return measured_point(plan, plan.points.at(0), passes);
}

// A metric needs only a row that names its source to appear in a point and in the point's first operations.
TEST(MeasuredValues, ARowWithASourceIsMeasuredByItsPassAlone) {
  ONLY_ON_A_REAL_CPU();
  const Point point = point_of_passes();
  ASSERT_EQ(point.first_ops.size(), kOps);
  std::size_t sources = 0;
  for (const MetricRow& row : metric_rows()) {
    if (row.source.of == nullptr) continue;
    ++sources;
    const std::map<MetricPass, double> values{{MetricPass::kAudit, 1},
                                              {MetricPass::kTiming, 2},
                                              {MetricPass::kFaults, 3},
                                              {MetricPass::kHolding, 4},
                                              {MetricPass::kHoldingWithout, 5}};
    const double expected = values.at(row.pass);
    EXPECT_EQ(point.number(row.metric), expected) << dotted_key(row);
    const bool in_first_op = row.in_first_op.rank > 0;
    EXPECT_EQ(point.first()->number(row.metric), in_first_op ? std::optional(expected) : std::nullopt) << row.key;
  }
  EXPECT_GT(sources, 20U);
}

TEST(MeasuredValues, WhatWasMeasuredIsWrittenAndReadAgain) {
  const Point point = point_of_passes();
  const Point again = point_from_json(to_json(point));
  for (const MetricRow& row : metric_rows()) {
    EXPECT_TRUE(again[row.metric] == point[row.metric]) << dotted_key(row);
    EXPECT_TRUE(again.first_ops.at(7)[row.metric] == point.first_ops.at(7)[row.metric]) << dotted_key(row);
  }
}

}  // namespace
}  // namespace zerotax
