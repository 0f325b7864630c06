#include "findings_testing.h"

namespace zerotax::findings {
namespace {

Json threshold(std::uint64_t at, double touch = 0, bool exact = true, bool noisy = false) {
  return {{"allocator", "a"}, {"touch", touch}, {"thread", "main"}, {"after_bytes", at - 1},
          {"at_bytes", at},   {"exact", exact}, {"noisy", noisy}};
}

Json thresholds(const std::vector<Json>& all) { return {{"thresholds", all}}; }

/// Zeroes what it says of each size.
std::vector<Made> lane(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& sizes, double touch = 0) {
  std::vector<Made> points;
  points.reserve(sizes.size());
  for (const auto& [size, zeroed] : sizes) points.push_back({.size = size, .touch = touch, .zeroed = zeroed});
  return points;
}

TEST(Cliff, IsBetweenPointsOneByteApart) {
  EXPECT_EQ(found_in(lane({{kMiB - 1, 0}, {kMiB, kMiB}})), Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in(lane({{kMiB - 1, kMiB - 1}, {kMiB, 0}})), Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in(lane({{kMiB - 2, 0}, {kMiB, kMiB}})), Ids{}) << "nobody knows where between the two";
}

TEST(Cliff, TakesTenTimes) {
  EXPECT_EQ(found_in(lane({{kMiB - 1, kMiB / 20 - 1}, {kMiB, kMiB / 2}})), Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in(lane({{kMiB - 1, kMiB / 20 + 1}, {kMiB, kMiB / 2}})), Ids{});
  EXPECT_EQ(found_in(lane({{kMiB - 1, 0}, {kMiB, kMiB / 2 - 1}})), Ids{});
}

TEST(Cliff, IsOfFaultsToo) {
  EXPECT_EQ(found_in({{.size = kMiB - 1, .calloc_faults = 12}, {.size = kMiB, .calloc_faults = 128}}),
            Ids{"a-cliff-1048576 medium"});
  EXPECT_EQ(found_in({{.size = kMiB - 1, .calloc_faults = 13}, {.size = kMiB, .calloc_faults = 128}}), Ids{});
}

TEST(Cliff, IsAtAThresholdIfThePointsOnBothSidesSaySo) {
  const Json at = thresholds({threshold(777'781)});
  EXPECT_EQ(found_in(lane({{512 * kKiB, 0}, {kMiB, kMiB}}), at), Ids{"a-cliff-777781 low"});
  EXPECT_EQ(found_in(lane({{512 * kKiB, 0}, {kMiB, 0}}), at), Ids{});
  EXPECT_EQ(found_in(lane({{kMiB, kMiB}}), at), Ids{}) << "there is no point below";
}

TEST(Cliff, IsNotSeenPastAnotherThreshold) {
  // What lies beyond the next threshold, on either side, behaves in another way again.
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
