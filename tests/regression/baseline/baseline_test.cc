#include "baseline/baseline.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "baseline/document.h"
#include "baseline/lasting_changes.h"
#include "point/point_document.h"
#include "temporary_folder.h"

namespace zerotax::baseline {

namespace {

namespace fs = std::filesystem;

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

Baseline baseline(std::uint64_t zeroed, const Json& calls, std::uint64_t threshold) {
  ThresholdSearch search;
  Threshold found{threshold - 1, threshold, {}, {}};
  found.above.status = "ok";
  search.thresholds = {found};
  const Allocator allocator{"mine", "/p", {}, {}, "1"};
  return baseline_of(allocator, {point(zeroed, calls)}, search, Environment{}, ClockMode::kStopped);
}

TEST(Baseline, LeavesOutAThresholdThatIsNotExact) {
  ThresholdSearch search;
  Threshold found{90, 100, {}, {}};
  found.above.status = "ok";
  search.thresholds = {found};
  const Allocator allocator{"mine", "/p", {}, {}, "1"};
  const Baseline made = baseline_of(allocator, {}, search, Environment{}, ClockMode::kStopped);
  ASSERT_TRUE(made.thresholds);
  EXPECT_TRUE(made.thresholds->empty());
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
  const Baseline agreed = agreed_baseline({baseline(5, {{"madvise", 1}}, 100), baseline(5, Json::object(), 101)});
  EXPECT_EQ(agreed.points[0].count(Metric::kZeroedBytes), 5);
  EXPECT_EQ(agreed.points[0].why_not(Metric::kFreeSyscalls), kNotTheSame);
  EXPECT_TRUE(agreed.thresholds->empty());
}

TEST(Baseline, KeepsWhatAnotherMeasurementOfSomePointsDidNotMeasure) {
  const Baseline one = baseline(5, Json::object(), 100);
  Baseline none = one;
  none.points.clear();
  none.thresholds.reset();
  EXPECT_EQ(to_json(agreed_baseline({one, none}, {none})), to_json(one));
}

TEST(Baseline, OfAPointThatFailsOnceFails) {
  const Baseline healthy = baseline(5, Json::object(), 100);
  Baseline failing = healthy;
  failing.points[0].status = PointStatus::kCrashed;
  EXPECT_EQ(agreed_baseline({healthy, failing}).points[0].status, PointStatus::kCrashed);
  EXPECT_EQ(agreed_baseline({failing, healthy}).points[0].status, PointStatus::kCrashed);
}

TEST(Baseline, SaysWhichClockItWasMeasuredWith) {
  Json made = to_json(baseline(5, Json::object(), 100));
  EXPECT_EQ(baseline_from_json(made).clock, ClockMode::kStopped);
  made.erase("conditions");
  EXPECT_EQ(baseline_from_json(made).clock, ClockMode::kReal)
      << "baselines that were written before clocks were stopped lack the field";
}

TEST(Baseline, NamesAPointThatIsNotMeasuredAnyMore) {
  Baseline now = baseline(5, Json::object(), 100);
  now.points.clear();
  const auto missing = points_not_measured(baseline(5, Json::object(), 100), now);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].line, "calloc_loop 1 MiB touch 0 main is no longer measured");
}

TEST(Baseline, KeepsTheDirectionOfAThresholdBesideItsWords) {
  Baseline made = baseline(5, Json::object(), 100);
  made.thresholds = {{{100, {{"in words that nobody reads", Direction::kBetter}, {"others"}}},
                      {200, {{"it fails", Direction::kWorse, true}}}}};
  Json json = to_json(made);
  EXPECT_EQ(json["thresholds"][0]["directions"], (Json{"better", "neither"}));
  const Baseline read = baseline_from_json(json);
  EXPECT_EQ(direction_of(read.thresholds->at(0).changes), Direction::kBetter);
  EXPECT_FALSE(any_fails(read.thresholds->at(0).changes));
  EXPECT_TRUE(any_fails(read.thresholds->at(1).changes));
  json["thresholds"][0]["directions"].erase(1);
  EXPECT_THROW(baseline_from_json(json), std::invalid_argument);
}

using BaselineFile = WithTemporaryFolder;

TEST_F(BaselineFile, OfAnotherKindIsRefused) {
  write("two.json", R"({"schema": "zerotax.baseline/2"})");
  EXPECT_THROW(read_baseline(path("two.json")), UsageError);
  write("list.json", "[]");
  EXPECT_THROW(read_baseline(path("list.json")), UsageError);
}

TEST_F(BaselineFile, ThatIsCommittedIsWrittenAsItWasRead) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(ZEROTAX_SOURCE_DIR "/tests/regression/baselines")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const Baseline baseline = read_baseline(entry.path());
    EXPECT_EQ(json_text(to_json(baseline)), text.str()) << entry.path();
    // zerotax 0.2 wrote the words of a threshold without the directions.
    Json old = to_json(baseline);
    for (Json& threshold : old["thresholds"]) threshold.erase("directions");
    EXPECT_EQ(to_json(baseline_from_json(old)), to_json(baseline)) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 7U);
}

TEST(Baseline, WithOnePointTwiceOrOneThatContradictsItselfIsRefused) {
  Json made = to_json(baseline(5, Json::object(), 100));
  EXPECT_NO_THROW(baseline_from_json(made));
  Json twice = made;
  twice["points"].push_back(made["points"][0]);
  EXPECT_THROW(baseline_from_json(twice), std::invalid_argument);
  made["points"][0]["redundant_zeroed_bytes"] = 6;
  EXPECT_THROW(baseline_from_json(made), std::invalid_argument);
}

}  // namespace
}  // namespace zerotax::baseline
