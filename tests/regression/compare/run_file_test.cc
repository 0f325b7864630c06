#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "compare/points.h"
#include "point/point_document.h"

namespace zerotax::compare {
namespace {

Json time(double ns) { return {{"median", ns}, {"p05", ns}, {"p95", ns}}; }

Point point(const std::string& allocator, std::uint64_t size) {
  return point_from_json({{"allocator", allocator},
                          {"case", "calloc_loop"},
                          {"size_bytes", size},
                          {"touch", 0.0},
                          {"thread", "main"},
                          {"status", "ok"},
                          {"reason", nullptr},
                          {"calloc_ns", time(100)},
                          {"touch_ns", not_available("nothing is touched")},
                          {"free_ns", time(20)},
                          {"zeroed_bytes", 8},
                          {"redundant_zeroed_bytes", 0},
                          {"calloc_faults", 1},
                          {"touch_faults", not_available("nothing is touched")},
                          {"free_faults", 2},
                          {"syscalls", {{"mmap", 1}, {"munmap", 1}}}});
}

Json environment() {
  return {{"kernel", "6.18"},
          {"machine", "x86_64"},
          {"cpu", "x"},
          {"cpus", 2},
          {"memory_bytes", 1},
          {"page_bytes", 4096},
          {"thp", "madvise"},
          {"swap_bytes", 0},
          {"cgroup_memory_limit_bytes", not_available("no limit is set")},
          {"load_average", {0.1, 0.1, 0.1}},
          {"libc", "glibc 2.36"}};
}

RunFile run_of(const char* path, const Json& environment, const std::vector<Point>& points) {
  RunFile run;
  run.path = path;
  run.environment = environment;
  run.points = points;
  return run;
}

TEST(RunFile, PointsOfTheSameNameArePaired) {
  const RunFile before = run_of("a", environment(), {point("x", 1 << 20), point("y", 1 << 20)});
  RunFile after = before;
  after.points[1][Metric::kZeroedBytes] = MetricValue::whole(1 << 20);
  const auto points = compare_run_files(before, after, Cost::kTotal);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].before.allocator, "y");
  EXPECT_EQ(points[1].before.work.zeroed_bytes, Figures{8});
  EXPECT_EQ(points[1].after.work.zeroed_bytes, Figures{1 << 20});
  EXPECT_EQ(points[0].before.work.faults, Figures{3});
  EXPECT_EQ(points[0].before.work.syscalls, Figures{2});
  EXPECT_EQ(points[0].before.ns, 120);
  EXPECT_EQ(compare_run_files(before, after, Cost::kCalloc)[0].before.ns, 100);
}

TEST(RunFile, TwoRunsOfOneAllocatorEachAreComparedWhateverItsName) {
  const RunFile before = run_of("a", environment(), {point("mine-1", 1 << 20)});
  const RunFile after = run_of("b", environment(), {point("mine-2", 1 << 20)});
  const auto points = compare_run_files(before, after, Cost::kTotal);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].after.invalid, "");
}

TEST(RunFile, APointOfAFleetIsComparedUnderTheConditionsOfItsHost) {
  RunFile before = run_of("a", environment(), {point("x", 1), point("x", 2)});
  before.environments = {{"n1", environment()}, {"n2", environment()}};
  before.environments["n2"]["cpu"] = "y";
  before.points[0].host = "n1";
  before.points[1].host = "n2";
  RunFile after = before;
  after.points[1].host = "n1";
  const auto points = compare_run_files(before, after, Cost::kTotal);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].invalid, "");
  EXPECT_EQ(points[1].invalid, "cpu: y and x");
}

TEST(RunFile, APointThatOnlyOneHasCannotBeCompared) {
  const RunFile before = run_of("a", environment(), {point("x", 1), point("x", 2)});
  const RunFile after = run_of("b", environment(), {point("x", 2), point("x", 3)});
  const auto points = compare_run_files(before, after, Cost::kTotal);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].after.invalid, "not in NEW");
  EXPECT_EQ(points[1].after.invalid, "");
  EXPECT_EQ(points[2].before.invalid, "not in OLD");
}

TEST(RunFile, ConditionsThatDifferAreNamed) {
  const Json one = environment();
  EXPECT_EQ(differing_conditions(one, one), "");
  Json other = environment();
  other["kernel"] = "6.1";
  other["thp"] = "always";
  EXPECT_EQ(differing_conditions(one, other), "kernel: 6.18 and 6.1; thp: madvise and always");
  other = environment();
  // After each boot, the size of the memory differs by a few pages. Swap either exists or does not.
  Json large = environment();
  large["memory_bytes"] = other["memory_bytes"] = 8'000'000'000;
  other["memory_bytes"] = 8'000'004'096;
  EXPECT_EQ(differing_conditions(large, other), "");
  other["memory_bytes"] = 8'100'000'000;
  other["swap_bytes"] = 4096;
  EXPECT_EQ(differing_conditions(large, other), "memory_bytes: 8000000000 and 8100000000; swap_bytes: 0 and 4096");
  other = environment();
  other["load_average"] = {1.5, 1, 1};
  EXPECT_EQ(differing_conditions(one, other), "load: 0.1 and 1.5");
  const auto points =
      compare_run_files(run_of("a", one, {point("x", 1)}), run_of("b", other, {point("x", 1)}), Cost::kTotal);
  EXPECT_EQ(points[0].invalid, "load: 0.1 and 1.5");
}

TEST(RunFile, AStatusThatIsNotOkIsTakenOver) {
  const RunFile before = run_of("a", environment(), {point("x", 1)});
  RunFile after = before;
  after.points[0].status = PointStatus::kTimeout;
  after.points[0].reason = "not done after 1 s";
  EXPECT_EQ(compare_run_files(before, after, Cost::kTotal)[0].after.invalid, "timeout: not done after 1 s");
}

TEST(RunFile, WhatIsDamagedIsRefused) {
  const RunFile good = run_of("a", environment(), {point("x", 1)});
  RunFile bad = good;
  bad.points[0][Metric::kSyscalls] = {};
  EXPECT_THROW(compare_run_files(good, bad, Cost::kTotal), UsageError);
  bad = good;
  bad.points.push_back(bad.points[0]);
  EXPECT_THROW(compare_run_files(bad, good, Cost::kTotal), UsageError);
}

TEST(RunFile, ALibraryIsNone) {
  EXPECT_FALSE(is_run_file("/proc/self/exe"));
  EXPECT_TRUE(is_run_file("/tmp"));
  EXPECT_TRUE(is_run_file("missing.json"));
  EXPECT_FALSE(is_run_file("jemalloc"));
}

}  // namespace
}  // namespace zerotax::compare
