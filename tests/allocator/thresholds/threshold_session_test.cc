#include <gtest/gtest.h>

#include "base/error.h"
#include "planted_allocator.h"
#include "thresholds/session.h"

namespace zerotax::thresholds {
namespace {

constexpr std::uint64_t kPrime = 1'299'709;  // smallest size that planted_threshold_prime zeroes
const ThresholdAxes kAxes{1'250'000, 1'350'000, 2, {0, 1}, {"main"}};

ThresholdSession session_of(Allocator allocator, ThresholdAxes axes = kAxes) {
  Plan plan;
  plan.allocators = {std::move(allocator)};
  return {std::move(plan), std::move(axes)};
}

TEST(ThresholdSession, FindsThePlantedThresholdInEachLane) {
  ThresholdSession session = session_of(planted_allocator("threshold_prime"));
  EXPECT_TRUE(session.json().at("lanes").empty()) << "no lane has been searched yet";
  int lanes = 0;
  EXPECT_EQ(session.run([&] { ++lanes; }), 0);
  EXPECT_EQ(lanes, 2);
  ASSERT_EQ(session.lanes().size(), 2U);
  for (const ThresholdLane& lane : session.lanes()) {
    EXPECT_TRUE(lane.searched);
    EXPECT_EQ(lane.failure, "");
    ASSERT_EQ(lane.found.thresholds.size(), 1U);
    EXPECT_EQ(lane.found.thresholds[0].at_bytes, kPrime);
    EXPECT_TRUE(lane.found.thresholds[0].exact());
    EXPECT_TRUE(lane.found.noisy.empty());
  }
  EXPECT_EQ(session.json().at("thresholds").size(), 2U);
}

TEST(ThresholdSession, ResumesWithoutSearchingAgain) {
  const Allocator allocator = planted_allocator("threshold_prime");
  ThresholdAxes one_lane = kAxes;
  one_lane.touches = {0};
  ThresholdSession first = session_of(allocator, one_lane);
  ASSERT_EQ(first.run(), 0);

  ThresholdSession both = session_of(allocator);
  both.resume(first.json(), "file");
  EXPECT_TRUE(both.lanes()[0].searched);
  EXPECT_FALSE(both.lanes()[1].searched);
  int lanes = 0;
  ASSERT_EQ(both.run([&] { ++lanes; }), 0);
  EXPECT_EQ(lanes, 1) << "only the missing lane was searched";
  EXPECT_EQ(both.json().at("lanes")[0], first.json().at("lanes")[0]);
  EXPECT_EQ(both.run([&] { ++lanes; }), 0);
  EXPECT_EQ(lanes, 1) << "nothing is missing";
}

TEST(ThresholdSession, TakesOverNothingOfAnotherVersionOrRange) {
  Allocator allocator = planted_allocator("threshold_prime");
  ThresholdAxes small{1'299'000, 1'300'000, 1, {0}, {"main"}};
  ThresholdSession first = session_of(allocator, small);
  ASSERT_EQ(first.run(), 0);

  ThresholdSession same = session_of(allocator, small);
  same.resume(first.json(), "file");
  EXPECT_TRUE(same.lanes()[0].searched);
  allocator.version = "2";
  ThresholdSession newer = session_of(allocator, small);
  newer.resume(first.json(), "file");
  EXPECT_FALSE(newer.lanes()[0].searched);
  allocator.version = "1";
  small.to += 1;
  ThresholdSession wider = session_of(allocator, small);
  wider.resume(first.json(), "file");
  EXPECT_FALSE(wider.lanes()[0].searched);
  EXPECT_THROW(wider.resume(Json::array(), "file"), UsageError);
}

TEST(ThresholdSession, SaysWhereALaneFailedFirst) {
  ThresholdSession session = session_of(planted_allocator("crash"), {kMiB, 2 * kMiB, 1, {0}, {"main"}});
  ASSERT_EQ(session.run(), 0);
  const ThresholdLane& lane = session.lanes()[0];
  EXPECT_TRUE(lane.failure.starts_with("at 1 MiB: crashed: audit pass: killed by SIGSEGV in calloc, operation 3"))
      << lane.failure;
  EXPECT_TRUE(lane.found.thresholds.empty()) << "it crashes in the same way at every size";
}

}  // namespace
}  // namespace zerotax::thresholds
