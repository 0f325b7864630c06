#include <gtest/gtest.h>

#include "point/point_document.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

Json spread_of(double median) { return {{"median", median}, {"p05", median}, {"p95", median}}; }

Json point_with(double touch) {
  const Json na = not_available("nothing is touched");
  return {{"status", "ok"},
          {"touch", touch},
          {"calloc_ns", spread_of(100)},
          {"touch_ns", touch > 0 ? spread_of(20) : na},
          {"free_ns", spread_of(3)},
          {"calloc_faults", 1},
          {"touch_faults", touch > 0 ? Json(40) : na},
          {"free_faults", 0},
          {"first_ops",
           {{{"calloc_ns", 700},
             {"touch_ns", touch > 0 ? Json(50) : na},
             {"free_ns", 6},
             {"calloc_faults", 5},
             {"touch_faults", touch > 0 ? Json(90) : na},
             {"free_faults", 2}}}}};
}

Point touched_point(double touch) { return point_from_json(point_with(touch)); }

TEST(OperationCost, IsTheSumOfItsParts) {
  EXPECT_EQ(operation_ns(touched_point(1)), 123);
  EXPECT_EQ(operation_faults(touched_point(1)), 41);
  EXPECT_EQ(first_operation_ns(touched_point(1)), 756);
  EXPECT_EQ(first_operation_faults(touched_point(1)), 97);
  EXPECT_EQ(touched_point(1).number(Metric::kCallocNs), 100);
}

TEST(OperationCost, TouchingIsNoPartWhereNothingIsTouched) {
  EXPECT_EQ(operation_ns(touched_point(0)), 103);
  EXPECT_EQ(operation_faults(touched_point(0)), 1);
  EXPECT_EQ(first_operation_ns(touched_point(0)), 706);
  EXPECT_EQ(first_operation_faults(touched_point(0)), 7);
}

TEST(OperationCost, APartThatWasNotMeasuredIsNotZero) {
  for (const char* part : {"calloc", "touch", "free"}) {
    Json json = point_with(1);
    for (const char* unit : {"_ns", "_faults"}) {
      json[part + std::string(unit)] = not_available("no counter");
      json["first_ops"][0][part + std::string(unit)] = not_available("no counter");
    }
    const Point without = point_from_json(json);
    EXPECT_EQ(operation_ns(without), std::nullopt) << part;
    EXPECT_EQ(operation_faults(without), std::nullopt) << part;
    EXPECT_EQ(first_operation_ns(without), std::nullopt) << part;
    EXPECT_EQ(first_operation_faults(without), std::nullopt) << part;
  }
}

TEST(OperationCost, WithoutAFirstOperationThereIsNone) {
  Json json = point_with(1);
  json["first_ops"] = Json::array();
  const Point none = point_from_json(json);
  EXPECT_EQ(first_operation_ns(none), std::nullopt);
  EXPECT_EQ(first_operation_faults(none), std::nullopt);
}

}  // namespace
}  // namespace zerotax
