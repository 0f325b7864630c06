#include "files/stored_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "files/results.h"
#include "os/clock.h"
#include "os/environment.h"
#include "point/point.h"
#include "point/point_document.h"
#include "run/planning.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

using StoredRunTest = WithTemporaryFolder;

/// The plan of a run of two points without measurements. The plan has only the fields that the schema requires.
Plan plan_of_two() {
  Plan plan;
  plan.allocators.push_back({"a", "/bin/true", {}, {}, "1"});
  add_points(plan, {{"calloc_loop"}, {4096, 8192}, {0.0}, {"main"}}, {});
  return plan;
}

std::string point(std::size_t i = 0) {
  const Plan plan = plan_of_two();
  return to_json(skipped_point(plan, plan.points.at(i), "a test")).dump();
}

/// run.json of a run whose points are beside it.
Json run() {
  return run_json({"complete", utc_now(), utc_now(), {"zerotax", "run"}, describe_environment()}, plan_of_two(), 2);
}

std::string run_of_folder() { return run().dump(); }

std::string run_with(const std::string& points) {
  Json json = run();
  json.erase("points_file");
  json["points"] = Json::parse(points);
  return json.dump();
}

TEST_F(StoredRunTest, AFolderHasPointsAndMayHaveThresholds) {
  write("run.json", run_of_folder());
  write("points.jsonl", point(0) + "\n" + point(1) + "\n");
  EXPECT_EQ(read_stored_run(path()).points.size(), 2U);
  EXPECT_TRUE(read_stored_run(path()).thresholds.is_null());
  Json thresholds{{"schema", "zerotax.thresholds/1"},
                  {"zerotax_version", "1"},
                  {"started", utc_now()},
                  {"environment", describe_environment()},
                  {"thresholds", Json::array()},
                  {"lanes", Json::array()},
                  {"probes", 0}};
  write("thresholds.json", thresholds.dump());
  EXPECT_TRUE(read_stored_run(path()).thresholds.is_object());
  EXPECT_EQ(read_stored_run(path("run.json")).points.size(), 2U);
}

TEST_F(StoredRunTest, ALineThatWasCutShortIsLeftOutAndStays) {
  const std::string lines = point() + "\n{\"alloc";
  write("run.json", run_of_folder());
  write("points.jsonl", lines);
  EXPECT_EQ(read_stored_run(path()).points.size(), 1U);
  EXPECT_EQ(fs::file_size(folder_ / "points.jsonl"), lines.size());
}

TEST_F(StoredRunTest, AFileMayHaveItsPointsInIt) {
  write("one.json", run_with("[" + point() + "]"));
  EXPECT_EQ(read_stored_run(path("one.json")).points.size(), 1U);
}

TEST_F(StoredRunTest, WhatIsNoRunIsRefused) {
  EXPECT_THROW(read_stored_run(path("nothing")), UsageError);
  EXPECT_THROW(read_stored_run(path()), UsageError) << "an empty folder";
  write("list.json", "[]");
  EXPECT_THROW(read_stored_run(path("list.json")), UsageError);
  write("other.json", R"({"schema": "zerotax.plan/1"})");
  EXPECT_THROW(read_stored_run(path("other.json")), UsageError);
  write("odd.json", run_with("[7]"));
  EXPECT_THROW(read_stored_run(path("odd.json")), UsageError);
  write("run.json", run_of_folder());
  EXPECT_THROW(read_stored_run(path()), UsageError) << "no points";
  write("points.jsonl", "{}\n");
  EXPECT_THROW(read_stored_run(path()), UsageError);
}

TEST_F(StoredRunTest, APointThatIsThereTwiceOrContradictsItselfIsRefused) {
  write("twice.json", run_with("[" + point() + "," + point() + "]"));
  EXPECT_THROW(read_stored_run(path("twice.json")), UsageError);
  Json odd = Json::parse(point());
  odd["zeroed_bytes"] = 0;
  odd["redundant_zeroed_bytes"] = 1;
  write("odd.json", run_with("[" + odd.dump() + "]"));
  EXPECT_THROW(read_stored_run(path("odd.json")), UsageError);
}

TEST_F(StoredRunTest, PercentilesMayBeOffByTheRoundingOfEarlierVersions) {
  Json rounded = Json::parse(point());
  rounded["calloc_ns"] = {{"median", 401.0}, {"p05", 401.00000000000006}, {"p95", 409.1}};
  write("rounded.json", run_with("[" + rounded.dump() + "]"));
  EXPECT_EQ(read_stored_run(path("rounded.json")).points.size(), 1U);
  rounded["calloc_ns"]["p05"] = 401.1;
  write("odd.json", run_with("[" + rounded.dump() + "]"));
  EXPECT_THROW(read_stored_run(path("odd.json")), UsageError);
}

TEST_F(StoredRunTest, ARunWithoutPointsHasNothingToSay) {
  write("none.json", run_with("[]"));
  EXPECT_THROW(read_stored_run(path("none.json")), UsageError);
}

TEST_F(StoredRunTest, WhatWasReadIsNamed) {
  write("run.json", run_of_folder());
  write("points.jsonl", point() + "\n");
  EXPECT_EQ(read_stored_run(path()).files, (std::vector<std::string>{path() + "/run.json", path() + "points.jsonl"}));
}

TEST_F(StoredRunTest, ThePlaceOfWhatIsWrongIsNamed) {
  Json odd = Json::parse(point());
  odd["calloc_ns"] = "x";
  write("run.json", run_of_folder());
  write("points.jsonl", point(1) + "\n" + odd.dump() + "\n");
  try {
    read_stored_run(path());
    FAIL();
  } catch (const UsageError& failure) {
    EXPECT_NE(std::string(failure.what()).find("points.jsonl line 2 is damaged: /calloc_ns: \"x\""), std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace zerotax
