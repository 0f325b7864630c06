#include <gtest/gtest.h>

#include "baseline/baseline.h"
#include "point/typed_point.h"

namespace zerotax::baseline {
namespace {

Point point_of(const char* status) {
  Point point;
  point.case_name = "calloc_loop";
  point.size_bytes = 1 << 20;
  point.thread = "main";
  point.status = *status_of_word(status);
  return point;
}

TEST(PointHealth, IsThatOfPointsThatAreOkOrWereNotMeasured) {
  EXPECT_TRUE(is_healthy(point_of("ok")));
  EXPECT_TRUE(is_healthy(point_of("skipped")));
  for (const char* status : {"crashed", "failed", "timeout", "not_zero", "misaligned"}) {
    EXPECT_FALSE(is_healthy(point_of(status))) << status;
    EXPECT_FALSE(is_healthy_status(status));
  }
  EXPECT_FALSE(is_healthy_status("whatever"));
}

TEST(PointHealth, IsContradictedByPercentilesThatDoNotAscendButForARoundingError) {
  Point point = point_of("ok");
  point[Metric::kForkNs] = MetricValue::time({100, 100 + 1e-12, 100});
  EXPECT_EQ(contradiction_in(point), "");
  point[Metric::kForkNs] = MetricValue::time({100, 101, 102});
  EXPECT_EQ(contradiction_in(point), "/fork/fork_ns: p05, median and p95 do not ascend");
}

TEST(PointHealth, OfABaselineNamesEachPointThatFails) {
  Baseline baseline;
  baseline.points = {point_of("ok"), point_of("crashed"), point_of("misaligned")};
  EXPECT_EQ(failing_in_baseline(baseline), (std::vector<std::string>{"calloc_loop 1 MiB touch 0 main: crashed",
                                                                     "calloc_loop 1 MiB touch 0 main: misaligned"}));
}

TEST(PointHealth, OfABaselineLooksAtItsThresholdsToo) {
  Baseline baseline;
  baseline.points = {point_of("ok")};
  baseline.thresholds.emplace();
  for (const char* change : {"the point is crashed (before: ok)", "the point is skipped (before: ok)",
                             "the point is ok (before: crashed)", "later callocs write no zeros"}) {
    baseline.thresholds->push_back({65537, {Json(change).get<BehaviourChange>()}});
  }
  EXPECT_EQ(failing_in_baseline(baseline),
            (std::vector<std::string>{"from 65537 bytes on: the point is crashed (before: ok)",
                                      "from 65537 bytes on: the point is ok (before: crashed)"}));
}

}  // namespace
}  // namespace zerotax::baseline
