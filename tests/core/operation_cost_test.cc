#include "core/operation_cost.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

Json spread_of(double median) { return {{"median", median}, {"p05", median}, {"p95", median}}; }

Json point(double touch) {
  const Json na = not_available("nothing is touched");
  return {{"touch", touch},
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

TEST(OperationCost, IsTheSumOfItsParts) {
  EXPECT_EQ(operation_ns(point(1)), 123);
  EXPECT_EQ(operation_faults(point(1)), 41);
  EXPECT_EQ(first_operation_ns(point(1)), 756);
  EXPECT_EQ(first_operation_faults(point(1)), 97);
  EXPECT_EQ(calloc_ns(point(1)), 100);
}

TEST(OperationCost, TouchingIsNoPartWhereNothingIsTouched) {
  EXPECT_EQ(operation_ns(point(0)), 103);
  EXPECT_EQ(operation_faults(point(0)), 1);
  EXPECT_EQ(first_operation_ns(point(0)), 706);
  EXPECT_EQ(first_operation_faults(point(0)), 7);
}

TEST(OperationCost, APartThatWasNotMeasuredIsNotZero) {
  for (const char* part : {"calloc", "touch", "free"}) {
    Json without = point(1);
    for (const char* unit : {"_ns", "_faults"}) {
      without[part + std::string(unit)] = not_available("no counter");
      without["first_ops"][0][part + std::string(unit)] = not_available("no counter");
    }
    EXPECT_EQ(operation_ns(without), std::nullopt) << part;
    EXPECT_EQ(operation_faults(without), std::nullopt) << part;
    EXPECT_EQ(first_operation_ns(without), std::nullopt) << part;
    EXPECT_EQ(first_operation_faults(without), std::nullopt) << part;
  }
}

TEST(OperationCost, WithoutAFirstOperationThereIsNone) {
  Json none = point(1);
  none["first_ops"] = Json::array();
  EXPECT_EQ(first_operation_ns(none), std::nullopt);
  EXPECT_EQ(first_operation_faults(none), std::nullopt);
}

}  // namespace
}  // namespace zerotax
