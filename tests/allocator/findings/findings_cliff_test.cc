#include "findings_testing.h"
#include "judge/cliff_edges.h"
#include "judge/document.h"
#include "point/plan.h"
#include "point/point_document.h"
#include "small_pages.h"

namespace zerotax::findings {
namespace {

MeasuredThreshold threshold(std::uint64_t at, double touch = 0, bool exact = true, bool noisy = false) {
  return {.allocator = "a",
          .touch = touch,
          .thread = "main",
          .after_bytes = at - 1,
          .at_bytes = at,
          .exact = exact,
          .noisy = noisy};
}

Json thresholds(const std::vector<MeasuredThreshold>& all) { return {{"thresholds", all}}; }

/// Points of a lane, each with a size and its zeroed bytes.
std::vector<Made> lane(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& sizes, double touch = 0) {
  std::vector<Made> points;
  points.reserve(sizes.size());
  for (const auto& [size, zeroed] : sizes) points.push_back({.size = size, .touch = touch, .zeroed = zeroed});
  return points;
}

TEST(Cliff, IsBetweenPointsOneByteApart) {
  EXPECT_EQ(found_in(lane({{kMiB - 1, 0}, {kMiB, kMiB}})), Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in(lane({{kMiB - 1, kMiB - 1}, {kMiB, 0}})), Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in(lane({{kMiB - 2, 0}, {kMiB, kMiB}})), Ids{})
      << "the place of the change between the two sizes is unknown";
}

TEST(Cliff, TakesTenTimes) {
  EXPECT_EQ(found_in(lane({{kMiB - 1, kMiB / 20 - 1}, {kMiB, kMiB / 2}})), Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in(lane({{kMiB - 1, kMiB / 20 + 1}, {kMiB, kMiB / 2}})), Ids{});
  EXPECT_EQ(found_in(lane({{kMiB - 1, 0}, {kMiB, kMiB / 2 - 1}})), Ids{});
}

TEST(Cliff, IsOfFaultsToo) {
  ONLY_WITH_SMALL_PAGES();
  EXPECT_EQ(found_in({{.size = kMiB - 1, .calloc_faults = 12}, {.size = kMiB, .calloc_faults = 128}}),
            Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in({{.size = kMiB - 1, .calloc_faults = 13}, {.size = kMiB, .calloc_faults = 128}}), Ids{});
}

TEST(Cliff, IsAtAThresholdIfThePointsOnBothSidesSaySo) {
  const Json at = thresholds({threshold(777'781)});
  EXPECT_EQ(found_in(lane({{512 * kKiB, 0}, {kMiB, kMiB}}), at), Ids{"a-cliff-777781 low"});
  EXPECT_EQ(found_in(lane({{512 * kKiB, 0}, {kMiB, 0}}), at), Ids{});
  EXPECT_EQ(found_in(lane({{kMiB, kMiB}}), at), Ids{}) << "no point below the threshold was measured";
}

TEST(Cliff, IsNotSeenPastAnotherThreshold) {
  // These points lie beyond the neighboring thresholds, so they show nothing about this threshold.
  EXPECT_EQ(found_in(lane({{512 * kKiB, 0}, {2 * kMiB, 2 * kMiB}}), thresholds({threshold(777'781), threshold(kMiB)})),
            Ids{});
  EXPECT_EQ(found_in(lane({{512 * kKiB, 0}, {800'000, 0}, {2 * kMiB, 2 * kMiB}}),
                     thresholds({threshold(777'781), threshold(kMiB)})),
            Ids{"a-cliff-1048576 medium"});
}

TEST(Cliff, IsNotSeenAtANoisyThresholdOrOneThatIsARange) {
  const auto points = lane({{512 * kKiB, 0}, {kMiB, kMiB}});
  EXPECT_EQ(found_in(points, thresholds({threshold(777'781, 0, true, true)})), Ids{});
  EXPECT_EQ(found_in(points, thresholds({threshold(777'781, 0, false)})), Ids{});
}

TEST(Cliff, SaysWhatHappensAndWhatItDoesToTheTime) {
  const auto title_of = [](double below, double above) {
    const std::vector<Json> points{point_of({.size = kMiB - 1, .ns = below}),
                                   point_of({.size = kMiB, .zeroed = kMiB, .ns = above})};
    return found_json(points).at("findings")[0].at("title").get<std::string>();
  };
  EXPECT_EQ(title_of(1000, 46'000),
            "one byte more than 1,048,575, and zeroed bytes go from 0 to 1,048,576, 46 times the time");
  EXPECT_EQ(title_of(1000, 200),
            "one byte more than 1,048,575, and zeroed bytes go from 0 to 1,048,576, 1/5.0 of the time");
  EXPECT_EQ(title_of(1000, 1900), "one byte more than 1,048,575, and zeroed bytes go from 0 to 1,048,576");
}

TEST(Cliff, BetweenSizesFurtherApartNamesThese) {
  const std::vector<Json> points{point_of({.size = 512 * kKiB}), point_of({.size = kMiB, .zeroed = kMiB})};
  const Json found = found_json(points, thresholds({threshold(777'781)})).at("findings")[0];
  EXPECT_EQ(found.at("title"),
            "from 512 KiB to 1 MiB, across the threshold at 777,781 bytes, zeroed bytes go from 0 to 1,048,576");
}

Plan plan_of(const std::vector<Point>& points) {
  Plan plan;
  plan.allocators.push_back({"a", "", {}, {}, points.front().version.word().value_or("")});
  for (const Point& point : points)
    plan.points.push_back({0, point.case_name, point.size_bytes, point.touch, point.thread, {7, 7, 7, 7, 0}});
  return plan;
}

TEST(Cliff, OfAStudyIsMeasuredAtTheTwoSizesThatItNames) {
  const std::vector<Point> points =
      typed_points({point_of({.size = 512 * kKiB}), point_of({.size = kMiB, .zeroed = kMiB}),
                    point_of({.size = 2 * kMiB, .zeroed = 2 * kMiB})});
  const Json at = thresholds({threshold(777'781), threshold(kMiB + 1)});
  const Plan plan = edges_plan(plan_of(points), points, at);
  ASSERT_EQ(plan.points.size(), 2) << "nothing changes at the other threshold";
  EXPECT_EQ(plan.points[0].size_bytes, 777'780);
  EXPECT_EQ(plan.points[1].size_bytes, 777'781);
  EXPECT_EQ(plan.points[1].repeats.ops, 7);
  const std::vector<Point> edges =
      typed_points({point_of({.size = 777'780}), point_of({.size = 777'781, .zeroed = 777'781})});
  const Finding found = find_findings(points, at, {edges, {}}).front().findings.front();
  EXPECT_EQ(found.title, "one byte more than 777,780, and zeroed bytes go from 0 to 777,781");
  EXPECT_EQ(found.evidence.size(), 2);
}

TEST(Cliff, ThatTheTwoSizesDoNotShowIsNone) {
  const std::vector<Point> points =
      typed_points({point_of({.size = 512 * kKiB}), point_of({.size = kMiB, .zeroed = kMiB})});
  const std::vector<Point> edges = typed_points({point_of({.size = 777'780}), point_of({.size = 777'781})});
  const auto found = find_findings(points, thresholds({threshold(777'781)}), {edges, {}});
  for (const Finding& finding : found.front().findings) EXPECT_NE(finding.rule, "cliff");
}

TEST(Cliff, IsOfItsOwnLane) {
  EXPECT_EQ(found_in(lane({{512 * kKiB, 0}, {kMiB, kMiB}}), thresholds({threshold(777'781, 1)})), Ids{});
}

TEST(Cliff, OfSeveralLanesAtOneSizeIsOneFinding) {
  std::vector<Made> points = lane({{512 * kKiB, 0}, {kMiB, kMiB}});
  const auto touched = lane({{512 * kKiB, 0}, {kMiB, kMiB}}, 1);
  points.insert(points.end(), touched.begin(), touched.end());
  EXPECT_EQ(found_in(points, thresholds({threshold(777'781), threshold(777'781, 1)})), Ids{"a-cliff-777781 low"});
}

}  // namespace
}  // namespace zerotax::findings
