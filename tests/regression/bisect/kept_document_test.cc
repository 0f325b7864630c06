#include <gtest/gtest.h>

#include "bisect/document.h"

namespace zerotax::bisect {
namespace {

/// Expects the same JSON for a value after the value was written and read.
template <typename T>
void expect_it_comes_back(const T& written) {
  const Json json(written);
  EXPECT_EQ(Json(json.get<T>()), json) << json.dump(1);
}

TEST(KeptDocument, WhatATaskOfAFleetReadsComesBack) {
  VersionPlan plan;
  plan.repository = "/r";
  plan.cache = "/c";
  plan.recipe = recipe_of_options("mine", "make {jobs}", "{build}/x.so");
  plan.recipe.tools = {{"sh", "dash"}};
  plan.grid = {{1024, 2048}, true, 4096, 7, 0};
  plan.jobs = 3;
  plan.commits = {{"0123", "v1", "", "", "", {}}};
  expect_it_comes_back(plan);
  const auto read = Json(plan).get<VersionPlan>();
  EXPECT_EQ(read.grid.timeout_s, 7);
  EXPECT_EQ(read.recipe.tools.at(0).package, "dash");
  EXPECT_EQ(read.commits.at(0).tag, "v1");
}

TEST(KeptDocument, WhatBecameOfAVersionComesBack) {
  Version version;
  version.state = Version::State::kNotBuilt;
  version.reason = "exit status 2";
  version.build = Build{.state = Build::State::kFailed,
                        .seconds = 1.5,
                        .library = "",
                        .reason = "exit status 2",
                        .cached = true,
                        .log = "/log"};
  expect_it_comes_back(version);
  version.state = Version::State::kMeasured;
  version.build = Build{
      .state = Build::State::kBuilt, .seconds = 2, .library = "/x.so", .reason = "", .cached = false, .log = "/log"};
  version.measurement = Measurement{};
  version.measurement->baseline.allocator = "mine";
  version.measurement->baseline.version = std::string("1");
  version.measurement->baseline.measured_on = {};
  version.measurement->pieces = {{1024, 4096, thresholds::Doing::kNeedless}};
  expect_it_comes_back(version);
  const auto read = Json(version).get<Version>();
  EXPECT_EQ(read.build->log, "/log");
  EXPECT_EQ(read.measurement->pieces, version.measurement->pieces);
}

TEST(KeptDocument, AProgramComesBack) {
  VersionPlan plan;
  plan.recipe = recipe_of_program("decoder", "make", {"./decoder", "data"});
  plan.grid.command = MeasuredCommand{"decoder", {"./decoder", "{source}/input"}, 5};
  expect_it_comes_back(plan);
  const auto read = Json(plan).get<VersionPlan>();
  EXPECT_TRUE(read.recipe.is_of_program());
  EXPECT_EQ(read.grid.command->words, plan.grid.command->words);
  Version version;
  version.state = Version::State::kMeasured;
  version.measurement = Measurement{};
  version.measurement->program = baseline::Program{};
  version.measurement->program->metrics.all.fill(Range{1, 2});
  version.measurement->program->metrics.all[0] = NotAvailable{"not seen"};
  expect_it_comes_back(version);
}

TEST(KeptDocument, ARecipeHasTheSameKeyUnderAnotherName) {
  EXPECT_EQ(key_of(recipe_of_options("a", "make", "x.so")), key_of(recipe_of_options("b", "make", "x.so")));
  EXPECT_NE(key_of(recipe_of_options("a", "make", "x.so")), key_of(recipe_of_options("a", "make -s", "x.so")));
}

}  // namespace
}  // namespace zerotax::bisect
