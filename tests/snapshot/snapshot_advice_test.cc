#include <gtest/gtest.h>

#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

Json range(double low, double median, double high) { return {{"median", median}, {"p05", low}, {"p95", high}}; }

/// One that took a snapshot: the writers' time, and the memory that it added.
Json taken(const char* alternative, bool has_child, const Json& wall, std::uint64_t added = 0) {
  return {{"allocator", "glibc"},
          {"alternative", alternative},
          {"status", "ok"},
          {"reason", nullptr},
          {"has_child", has_child},
          {"slowdown", 2.0},
          {"writers_wall_ns", wall},
          {"stopped_ns", range(5, 5, 5)},
          {"checked_elements", 8},
          {"memory", {{"before_bytes", 1 << 20}, {"peak_bytes", (1 << 20) + added}}},
          {"faults_held", not_available("not watched")}};
}

Json with_after_end(Json result, double writers_ns, double faults, const Json& helper_ns = not_available("none")) {
  result["after_end"] = {{"runs", 1},
                         {"writers_user_ns", range(1, 1, 1)},
                         {"writers_system_ns", range(writers_ns, writers_ns, writers_ns)},
                         {"writers_faults", range(faults, faults, faults)},
                         {"helper", helper_ns}};
  if (!is_not_available(helper_ns))
    result["after_end"]["helper"] = {{"user_ns", range(0, 0, 0)},
                                     {"system_ns", range(helper_ns, helper_ns, helper_ns)}};
  return result;
}

Json advised(const std::vector<Json>& results) {
  Json snapshot{
      {"parameters",
       {{"array_bytes", 1 << 26}, {"batch_bytes", 1 << 21}, {"writers", 2}, {"checkpointers", 1}, {"repeat", 3}}},
      {"alternatives", Json::array()},
      {"results", results}};
  for (const Json& result : results) {
    const std::string name = result.at("alternative");
    snapshot["alternatives"].push_back(
        {{"name", name}, {"summary", name}, {"remedy_of", name == "fork_populate" ? Json("fork") : Json(nullptr)}});
  }
  add_verdict(snapshot);
  return snapshot;
}

TEST(SnapshotAdvice, WhatOneHasIsNotRecommendedAndCommandsMeasureMore) {
  const Json advice = advised({taken("fork", true, range(9, 10, 11))})["advice"][0];
  EXPECT_EQ(advice["instead_of"], "fork");
  for (const char* way :
       {"least_time", "shortest_stop", "least_memory", "least_time_with_child", "no_faults_after_end"}) {
    EXPECT_TRUE(is_not_available(advice[way])) << way;
  }
  ASSERT_EQ(advice["next"].size(), 2U);
  EXPECT_EQ(advice["next"][0]["command"], "zerotax snapshot --size 64MiB");
  EXPECT_EQ(advice["next"][1]["command"], "zerotax snapshot --size 64MiB --remedies");
}

TEST(SnapshotAdvice, IsOfWhatIsBetterInAllItsRuns) {
  const Json fork = taken("fork", true, range(9, 10, 11), 1000);
  EXPECT_EQ(advised({fork, taken("uffd_wp", false, range(5, 6, 7), 10)})["advice"][0]["least_time"], "uffd_wp");
  const Json near = advised({fork, taken("uffd_wp", false, range(5, 6, 9.5), 950)})["advice"][0];
  EXPECT_TRUE(is_not_available(near["least_time"]));
  EXPECT_TRUE(is_not_available(near["least_memory"])) << "within a tenth";
  EXPECT_EQ(advised({fork, taken("uffd_wp", false, range(5, 6, 7), 10)})["advice"][0]["least_memory"], "uffd_wp");
}

TEST(SnapshotAdvice, OneRunThatIsALittleBetterIsNotClearlyBetter) {
  const Json fork = taken("fork", true, range(100, 100, 100));
  EXPECT_TRUE(is_not_available(advised({fork, taken("uffd_wp", false, range(96, 96, 96))})["advice"][0]["least_time"]));
  EXPECT_EQ(advised({fork, taken("uffd_wp", false, range(94, 94, 94))})["advice"][0]["least_time"], "uffd_wp");
}

TEST(SnapshotAdvice, ARemedyForWhatComesAfterTheChildsEndIsNotPraisedForWhatCameBefore) {
  const Json fork = taken("fork", true, range(9, 10, 11), 1000);
  Json remedy = taken("fork_populate", true, range(9, 10, 11), 10);
  remedy["stopped_ns"] = range(1, 1, 1);
  const Json advice = advised({fork, remedy})["advice"][0];
  EXPECT_TRUE(is_not_available(advice["shortest_stop"]));
  EXPECT_TRUE(is_not_available(advice["least_memory"]));
}

TEST(SnapshotAdvice, WithoutAChildTheLeastIsTheLeast) {
  const Json advice =
      advised({taken("copy_first", false, range(5, 6, 7)), taken("uffd_wp", false, range(6, 7, 8))})["advice"][0];
  EXPECT_TRUE(is_not_available(advice["instead_of"]));
  EXPECT_EQ(advice["least_time"], "copy_first");
  EXPECT_TRUE(advice["next"].empty());
}

TEST(SnapshotRemedy, SaysWhatItMovesAndSaves) {
  const Json fork = with_after_end(taken("fork", true, range(9, 10, 11)), 1000, 500);
  const Json results =
      advised({fork, with_after_end(taken("fork_populate", true, range(9, 10, 11)), 20, 3, 400)})["results"];
  const Json& remedy = results[1]["remedy"];
  EXPECT_EQ(remedy["of"], "fork");
  EXPECT_EQ(remedy["effect"], "removes");
  EXPECT_EQ(remedy["saved_ns"], 580.0);
  EXPECT_EQ(remedy["helper_cpu_ns"], 400.0);
  EXPECT_EQ(remedy["faults"], (Json{{"without", 500.0}, {"with", 3.0}}));
  EXPECT_EQ(remedy["sentence"],
            "fork_populate removes the faults: the writers take 3 faults after the child's end (500 with fork) and "
            "21 ns of CPU time (1.00 µs); the helper thread takes 400 ns. In all, 580 ns less.");
  EXPECT_EQ(results[0]["remedy"], not_available("it is no remedy"));
}

TEST(SnapshotRemedy, ThatLeavesTheFaultsDoesNotHelpAndOneMayCostMore) {
  const Json fork = with_after_end(taken("fork", true, range(9, 10, 11)), 1000, 500);
  const auto remedy = [&](double writers_ns, double faults, double helper_ns) {
    return advised({fork, with_after_end(taken("fork_populate", true, range(9, 10, 11)), writers_ns, faults,
                                         helper_ns)})["results"][1]["remedy"];
  };
  EXPECT_EQ(remedy(1000, 499, 10)["effect"], "none");
  EXPECT_EQ(remedy(1000, 100, 10)["effect"], "reduces");
  EXPECT_EQ(remedy(0, 0, 1500)["saved_ns"], -500.0);
  EXPECT_NE(remedy(0, 0, 1500)["sentence"].get<std::string>().find("500 ns more"), std::string::npos);
}

TEST(SnapshotRemedy, OfWhatWasNotMeasuredIsNotAvailable) {
  const Json alone = with_after_end(taken("fork_populate", true, range(9, 10, 11)), 20, 3, 400);
  EXPECT_EQ(advised({alone})["results"][0]["remedy"], not_available("the alternative fork was not measured"));
}

}  // namespace
}  // namespace zerotax::snapshot
