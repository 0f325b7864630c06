#include <gtest/gtest.h>

#include "base/error.h"
#include "run/fleet/job_folder.h"
#include "temporary_folder.h"

namespace zerotax::fleet {
namespace {

class JobFolderTest : public WithTemporaryFolder {
 protected:
  [[nodiscard]] static JobPlan plan() {
    return {"points", "0123456789abcdef", true, {{"a", "b"}, {"c"}}, {{"plan", "plan.json"}}};
  }
  [[nodiscard]] static Load load(double others) { return {2, 0.1, 0.1, others, false, "x: y"}; }
  [[nodiscard]] JobFolder job() const { return {path("results"), "points"}; }
};

TEST_F(JobFolderTest, ReadsThePlanThatItWrote) {
  job().create(plan());
  const auto read = job().read_plan();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->token, plan().token);
  EXPECT_EQ(read->shards, plan().shards);
  EXPECT_EQ(read->work, plan().work);
  EXPECT_TRUE(read->timed);
}

TEST_F(JobFolderTest, ATokenThatAShellWouldRunIsRefused) {
  JobPlan hostile = plan();
  hostile.token = "x ]; touch sprung; [ x";
  job().create(hostile);
  EXPECT_THROW(static_cast<void>(job().read_plan()), UsageError);
}

TEST_F(JobFolderTest, OfAJobThatCouldNotBeginNothingIsLeft) {
  JobFolder made = job();
  made.create(plan());
  made.remove();
  EXPECT_FALSE(std::filesystem::exists(path("results")));
}

TEST_F(JobFolderTest, AFolderThatWasThereBeforeStays) {
  std::filesystem::create_directory(path("results"));
  JobFolder made = job();
  made.create(plan());
  made.remove();
  EXPECT_TRUE(std::filesystem::is_empty(path("results")));
}

TEST_F(JobFolderTest, ResultsAreReadOnceAndTheFirstOfAKeyCounts) {
  job().create(plan());
  JobFolder reader = job();
  const UniqueFd first = job().start_results(0);
  JobFolder::add_result(first.get(), {"a", "n1", {{"x", 1}}, {}});
  EXPECT_EQ(reader.new_results().at("a").host, "n1");
  EXPECT_TRUE(reader.new_results().empty());
  const UniqueFd second = job().start_results(0);
  JobFolder::add_result(second.get(), {"a", "n2", {{"x", 2}}, {}});
  JobFolder::add_result(second.get(), {"b", "n2", {{"x", 3}}, {}});
  const auto results = reader.new_results();
  EXPECT_EQ(results.size(), 1U);
  EXPECT_EQ(results.at("b").result, (Json{{"x", 3}}));
  EXPECT_EQ(job().new_results().at("a").host, "n1");
}

TEST_F(JobFolderTest, WhatIsCutOrDamagedIsNotThere) {
  job().create(plan());
  write("results/fleet/points/results-000-000.jsonl",
        "{]\n"
        "{\"key\": \"a\"}\n"
        "{\"key\": 7, \"host\": \"n1\", \"result\": {}}\n"
        "{\"key\": \"b\", \"host\": \"n1\", \"result\": {}}\n"
        "{\"key\": \"c\", \"host\": \"n1\", \"result\": {}}");
  const auto results = job().new_results();
  EXPECT_EQ(results.size(), 1U);
  EXPECT_TRUE(results.contains("b"));
}

TEST_F(JobFolderTest, TheLoadOfAHostIsThatOfItsWorstTaskAtItsEnd) {
  job().create(plan());
  const UniqueFd first = job().start_results(0);
  JobFolder::add_result(first.get(), {"a", "n1", Json::object(), load(1.9)});
  JobFolder::add_result(first.get(), {"b", "n1", Json::object(), load(0.9)});
  const UniqueFd second = job().start_results(1);
  JobFolder::add_result(second.get(), {"c", "n1", Json::object(), load(0.5)});
  JobFolder reader = job();
  EXPECT_EQ(reader.new_results().size(), 3U);
  ASSERT_EQ(reader.loads().size(), 1U);
  EXPECT_EQ(*reader.loads().at("n1").others_cpus, 0.9);
}

TEST_F(JobFolderTest, AHostWhoseEnvironmentChangedIsAnother) {
  job().create(plan());
  const std::string hosts = job().hosts();
  const std::string name = enter_host(hosts);
  EXPECT_EQ(enter_host(hosts), name);
  Environment other = read_hosts(hosts).at(name);
  other.kernel = std::string("another");
  write("results/fleet/hosts/" + name + ".json", Json{{"schema", "zerotax.host/1"}, {"environment", other}}.dump());
  EXPECT_EQ(enter_host(hosts), name + "#2");
  EXPECT_EQ(read_hosts(hosts).size(), 2U);
  write("results/fleet/hosts/n9.json", "{}");
  EXPECT_THROW(read_hosts(hosts), UsageError);
}

}  // namespace
}  // namespace zerotax::fleet
