#include "study/plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/size.h"
#include "run/planning.h"

namespace zerotax::study {
namespace {

Plan plan_of_two() {
  Plan plan;
  plan.allocators.push_back({"one", "/p", {}, {}, "1"});
  plan.allocators.push_back({"two", "/p", {}, {}, "2"});
  return plan;
}

TEST(Plan, InterleavesAllocatorsWithinASize) {
  Plan plan = plan_of_two();
  add_points(plan, {{"calloc_loop"}, {1, 2}, {0.0, 1.0}, {"main"}}, {});
  ASSERT_EQ(plan.points.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(plan.points[i].allocator, i % 2);
    EXPECT_EQ(plan.points[i].size_bytes, i < 4 ? 1U : 2U);
  }
}

TEST(Plan, KeysTellPointsApart) {
  Plan plan = plan_of_two();
  add_points(plan, {{"a", "b"}, {1, 2}, {0.0, 0.5}, {"main", "worker"}}, {});
  ASSERT_EQ(plan.points.size(), 32U) << "a key of another point takes its place";
  std::set<std::string> keys;
  for (const PointSpec& point : plan.points) {
    keys.insert(
        point_key(plan.allocators[point.allocator].name, point.case_name, point.size_bytes, point.touch, point.thread));
  }
  EXPECT_EQ(keys.size(), plan.points.size());
}

TEST(Plan, HasEveryPointOnceAndKeepsItsFirstRepeats) {
  Plan plan = plan_of_two();
  add_points(plan, {{"a"}, {1, 1}, {0.0}, {"main"}}, {10, 10, 3, 2, 0});
  add_points(plan, {{"a"}, {1, 2}, {0.0}, {"main"}}, {});
  ASSERT_EQ(plan.points.size(), 4U);
  EXPECT_EQ(plan.points[0].repeats.ops, 10U);
  EXPECT_EQ(plan.points[2].repeats.ops, 50U);
}

TEST(Plan, OfAnotherSchemaOrDamagedIsRefused) {
  Json json = plan_json(plan_of_two());
  json["schema"] = "zerotax.plan/9";
  EXPECT_THROW(plan_from_json(json, "plan.json"), UsageError);
  EXPECT_THROW(plan_from_json(Json::array(), "plan.json"), UsageError);
  EXPECT_THROW(plan_from_json(Json{{"schema", "zerotax.plan/1"}, {"study", 3}}, "plan.json"), UsageError);
}

TEST(StudyPlan, HasTheGridThatTheStudyPromises) {
  Plan plan = plan_of_two();
  add_quick_study(plan);
  std::set<std::uint64_t> sizes;
  std::set<double> touches;
  for (const PointSpec& point : plan.points) {
    sizes.insert(point.size_bytes);
    touches.insert(point.touch);
    EXPECT_TRUE(point.touch == 0.0 || point.size_bytes <= 128 * kMiB) << point.size_bytes;
    EXPECT_GE(point.repeats.min_ops, 3U);
    EXPECT_GE(point.repeats.audit_ops, 3U);
  }
  EXPECT_EQ(*sizes.begin(), 64 * kKiB);
  EXPECT_EQ(*sizes.rbegin(), kGiB);
  EXPECT_TRUE(sizes.contains(100 * kMiB));
  EXPECT_TRUE(sizes.contains(1000 * kMiB));
  EXPECT_EQ(touches, (std::set<double>{0.0, 1.0}));
  for (std::uint64_t octave = 64 * kKiB; octave < kGiB; octave *= 2) {
    const auto in_octave = std::distance(sizes.lower_bound(octave), sizes.lower_bound(2 * octave));
    EXPECT_GE(in_octave, octave < 128 * kMiB ? 2 : 1) << octave;
  }
}

TEST(StudyPlan, FullHasFourSizesInEveryOctave) {
  Plan plan = plan_of_two();
  add_full_study(plan);
  std::set<std::uint64_t> sizes;
  for (const PointSpec& point : plan.points) sizes.insert(point.size_bytes);
  for (std::uint64_t octave = 64 * kKiB; octave < 2 * kGiB; octave *= 2) {
    EXPECT_GE(std::distance(sizes.lower_bound(octave), sizes.lower_bound(2 * octave)), 4) << octave;
  }
}

class ReceivePoints : public testing::Test {
 protected:
  ReceivePoints() : folder(testing::TempDir() + "receive_points") {
    std::filesystem::create_directories(folder + "/bin");
    std::filesystem::create_directories(folder + "/libexec");
    ::setenv("ZEROTAX_PROBE_DIR", (folder + "/bin").c_str(), 1);
  }
  ~ReceivePoints() override {
    ::unsetenv("ZEROTAX_PROBE_DIR");
    std::filesystem::remove_all(folder);
  }
  void build_server() const { std::ofstream(folder + "/libexec/recv-server") << "#"; }
  std::string folder;
  Plan plan = plan_of_two();
};

TEST_F(ReceivePoints, AreLeftOutWhereThereIsNoServer) {
  add_receive_points(plan, true);
  EXPECT_TRUE(plan.points.empty());
}

TEST_F(ReceivePoints, OfAQuickStudyAreFewAndOnEachSideOfTheCache) {
  build_server();
  add_receive_points(plan, false);
  ASSERT_EQ(plan.points.size(), 4U);
  EXPECT_EQ(plan.points.front().case_name, "recv_buffer");
  EXPECT_LT(plan.points.front().size_bytes, 125 * kMiB);
  EXPECT_GE(plan.points.back().size_bytes, 128 * kMiB);
}

TEST_F(ReceivePoints, OfAFullStudyHaveEachOctaveWithAndWithoutTls) {
  build_server();
  add_receive_points(plan, true);
  std::set<std::pair<std::string, std::uint64_t>> found;
  for (const PointSpec& point : plan.points) found.emplace(point.case_name, point.size_bytes);
  for (const char* name : {"recv_buffer", "recv_buffer_tcp"}) {
    for (std::uint64_t size = 16 * kKiB; size <= kGiB; size *= 2) EXPECT_TRUE(found.contains({name, size})) << size;
  }
  for (const PointSpec& point : plan.points) EXPECT_GE(point.repeats.min_ops, 5U);
}

}  // namespace
}  // namespace zerotax::study
