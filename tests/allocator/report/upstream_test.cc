#include <gtest/gtest.h>

#include "judge/projects.h"
#include "judge/rule.h"

namespace zerotax::report {

namespace {

Finding of(const std::string& name, std::uint64_t size) {
  Finding finding;
  finding.name = name;
  finding.named_bytes = size;
  return finding;
}

TEST(Upstream, VersionsAreComparedByNumbers) {
  EXPECT_TRUE(is_older("2.0.9", "2.0.10"));
  EXPECT_TRUE(is_older("2.0.9", "2.2.7"));
  EXPECT_TRUE(is_older("2.2", "2.2.1"));
  EXPECT_FALSE(is_older("2.2.7", "2.2.7"));
  EXPECT_FALSE(is_older("3.0", "2.9.9"));
}

TEST(Upstream, AFixIsOfTheSameSeries) {
  ProjectIssue duplicate;
  duplicate.fixed_in = {"1.9.7", "2.2.7", "3.2.7"};
  EXPECT_EQ(fixed_later(duplicate, "2.0.9"), "2.2.7");
  EXPECT_EQ(fixed_later(duplicate, "1.9.6"), "1.9.7");
  EXPECT_EQ(fixed_later(duplicate, "3.2.7"), std::nullopt);
  EXPECT_EQ(fixed_later(duplicate, "2.4.1"), std::nullopt)
      << "the cause is already fixed, so the finding is something new";
  EXPECT_EQ(fixed_later(duplicate, "0.9"), "1.9.7");
  EXPECT_EQ(fixed_later(duplicate, ""), std::nullopt);
  EXPECT_EQ(fixed_later({}, "2.0.9"), std::nullopt);
}

TEST(Upstream, EntriesAreOfAFindingAndItsSize) {
  EXPECT_EQ(entries_about("mimalloc", &Project::duplicates, of("redundant-fresh", 100 << 20)).size(), 1U);
  EXPECT_TRUE(entries_about("mimalloc", &Project::duplicates, of("redundant-reuse", 100 << 20)).empty());
  EXPECT_EQ(entries_about("jemalloc", &Project::duplicates, of("purge-storm", 1 << 20)).size(), 1U);
  EXPECT_TRUE(entries_about("jemalloc", &Project::duplicates, of("purge-storm", 100 << 20)).empty());
  EXPECT_TRUE(entries_about("nobody", &Project::duplicates, of("purge-storm", 1)).empty());
}

TEST(Upstream, EveryEntryIsAboutFindingsOfRulesThatThereAre) {
  ASSERT_GE(embedded_upstreams().size(), 7U);
  for (const auto& entry : embedded_upstreams()) {
    const Project* project = project_of(entry.first);
    ASSERT_NE(project, nullptr);
    EXPECT_EQ(project->name, entry.first);
    std::vector<ProjectEntry> all = project->causes;
    all.insert(all.end(), project->knobs.begin(), project->knobs.end());
    all.insert(all.end(), project->duplicates.begin(), project->duplicates.end());
    for (const ProjectEntry& each : all) {
      for (const std::string& name : each.findings) {
        const auto& rules = FindingRule::all();
        EXPECT_TRUE(std::any_of(rules.begin(), rules.end(),
                                [&](const FindingRule* rule) { return name.starts_with(rule->name()); }))
            << entry.first << ": " << name;
      }
    }
  }
}

}  // namespace
}  // namespace zerotax::report
