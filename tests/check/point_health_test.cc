#include "core/point_health.h"

#include <gtest/gtest.h>

#include "check/baseline.h"

namespace zerotax::check {
namespace {

Json point_of(const char* status) {
  return {{"case", "calloc_loop"}, {"size_bytes", 1 << 20}, {"touch", 0.0}, {"thread", "main"}, {"status", status}};
}

Json threshold_of(const char* change) { return {{"at_bytes", 65537}, {"changes", Json::array({change})}}; }

TEST(PointHealth, IsThatOfPointsThatAreOkOrWereNotMeasured) {
  EXPECT_TRUE(is_healthy(point_of("ok")));
  EXPECT_TRUE(is_healthy(point_of("skipped")));
  for (const char* status : {"crashed", "failed", "timeout", "not_zero", "misaligned", "whatever"}) {
    EXPECT_FALSE(is_healthy(point_of(status))) << status;
  }
  EXPECT_FALSE(is_healthy(Json::object()));
}

TEST(PointHealth, OfABaselineNamesEachPointThatFails) {
  const Json baseline{{"points", {point_of("ok"), point_of("crashed"), point_of("misaligned")}},
                      {"thresholds", Json::array()}};
  EXPECT_EQ(failing_in_baseline(baseline), (std::vector<std::string>{"calloc_loop 1 MiB touch 0 main: crashed",
                                                                     "calloc_loop 1 MiB touch 0 main: misaligned"}));
}

TEST(PointHealth, OfABaselineLooksAtItsThresholdsToo) {
  const Json baseline{
      {"points", {point_of("ok")}},
      {"thresholds",
       {threshold_of("the point is crashed (before: ok)"), threshold_of("the point is skipped (before: ok)"),
        threshold_of("the point is ok (before: crashed)"), threshold_of("later callocs write no zeros")}}};
  EXPECT_EQ(failing_in_baseline(baseline),
            (std::vector<std::string>{"from 65537 bytes on: the point is crashed (before: ok)",
                                      "from 65537 bytes on: the point is ok (before: crashed)"}));
}

}  // namespace
}  // namespace zerotax::check
