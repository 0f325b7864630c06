#include "check/baseline.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/point_json.h"

namespace zerotax::check {

using thresholds::Threshold;
using thresholds::ThresholdSearch;
namespace {

Point point(std::uint64_t zeroed, const Json& calls) {
  Json json{{"case", "calloc_loop"}, {"size_bytes", 1 << 20}, {"touch", 0.0}, {"thread", "main"}};
  json.update(Json{{"status", "ok"},
                   {"zeroed_bytes", zeroed},
                   {"redundant_zeroed_bytes", zeroed},
                   {"populated_bytes", 0},
                   {"zeroed_method", "memset"},
                   {"calloc_syscalls", Json::object()},
                   {"free_syscalls", calls},
                   {"home", "arena"}});
  json["first_ops"] = Json::array({{{"zeroed_bytes", 0}, {"redundant_zeroed_bytes", 0}}});
  return point_from_json(json);
}

Json baseline(std::uint64_t zeroed, const Json& calls, std::uint64_t threshold) {
  ThresholdSearch search;
  Threshold found{threshold - 1, threshold, {}, {}};
  found.above.status = "ok";
  search.thresholds = {found};
  const Allocator allocator{"mine", "/p", {}, {}, "1"};
  return baseline_json(allocator, {point(zeroed, calls)}, search, Json{{"kernel", "k"}, {"cpu", "c"}, {"thp", "t"}},
                       ClockMode::kStopped);
}

TEST(Baseline, LeavesOutAThresholdThatIsNotExact) {
  ThresholdSearch search;
  Threshold found{90, 100, {}, {}};
  found.above.status = "ok";
  search.thresholds = {found};
  const Allocator allocator{"mine", "/p", {}, {}, "1"};
  const Json made =
      baseline_json(allocator, {}, search, Json{{"kernel", "k"}, {"cpu", "c"}, {"thp", "t"}}, ClockMode::kStopped);
  EXPECT_EQ(made.at("thresholds"), Json::array());
}

TEST(Baseline, ThatIsTheSameHasNoDifferences) {
  EXPECT_TRUE(compare_baselines(baseline(5, {{"munmap", 1}}, 100), baseline(5, {{"munmap", 1}}, 100)).empty());
}

TEST(Baseline, NamesAChangedFigureBeforeAndAfter) {
  const auto lines = compare_baselines(baseline(5, Json::object(), 100), baseline(7, Json::object(), 100));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, "calloc_loop 1 MiB touch 0 main, zeroed_bytes: before 5, now 7");
}

TEST(Baseline, NamesAThresholdThatMoved) {
  const auto lines = compare_baselines(baseline(5, Json::object(), 100), baseline(5, Json::object(), 101));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].line.find("the threshold at 100 bytes is gone"), std::string::npos);
  EXPECT_NE(lines[1].line.find("a new threshold at 101 bytes"), std::string::npos);
}

TEST(Baseline, HoldsOnlyWhatTwoMeasurementsAgreeOn) {
  const Json agreed = agreed_baseline(baseline(5, {{"madvise", 1}}, 100), baseline(5, Json::object(), 101), "why");
  EXPECT_EQ(agreed["points"][0]["zeroed_bytes"], 5);
  EXPECT_TRUE(is_not_available(agreed["points"][0]["free_syscalls"]));
  EXPECT_TRUE(agreed["thresholds"].empty());
  EXPECT_TRUE(compare_baselines(agreed, baseline(5, {{"madvise", 9}}, 100)).size() == 1) << "only the new threshold";
}

TEST(Baseline, KeepsWhatAnotherMeasurementOfSomePointsDidNotMeasure) {
  const Json one = baseline(5, Json::object(), 100);
  Json none = one;
  none["points"] = Json::array();
  none.erase("thresholds");
  EXPECT_EQ(agreed_baseline(one, none, "why"), one);
}

TEST(Baseline, SaysWhichClockItWasMeasuredWith) {
  Json made = baseline(5, Json::object(), 100);
  EXPECT_EQ(baseline_clock(made), ClockMode::kStopped);
  made.erase("conditions");
  EXPECT_EQ(baseline_clock(made), ClockMode::kReal) << "as those that were written before clocks were stopped";
}

TEST(Baseline, NamesAPointThatIsNotMeasuredAnyMore) {
  Json now = baseline(5, Json::object(), 100);
  now["points"] = Json::array();
  const auto missing = points_not_measured(baseline(5, Json::object(), 100), now);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].line, "calloc_loop 1 MiB touch 0 main is not measured any more");
}

TEST(Baseline, OfAnotherKindIsRefused) {
  EXPECT_THROW(check_baseline(Json::array(), "f"), UsageError);
  EXPECT_THROW(check_baseline(Json{{"schema", "zerotax.baseline/2"}}, "f"), UsageError);
}

}  // namespace
}  // namespace zerotax::check
