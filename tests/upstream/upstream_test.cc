#include <gtest/gtest.h>

#include "findings/projects.h"
#include "findings/rule.h"
#include "upstream/embedded.h"

namespace zerotax::upstream {

using findings::embedded_upstreams;
using findings::Finding;
using findings::FindingRule;
using findings::fixed_later;
using findings::is_older;
using findings::upstream_entries;
using findings::upstream_of;
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
  const Json duplicate{{"fixed_in", {"1.9.7", "2.2.7", "3.2.7"}}};
  EXPECT_EQ(fixed_later(duplicate, "2.0.9"), "2.2.7");
  EXPECT_EQ(fixed_later(duplicate, "1.9.6"), "1.9.7");
  EXPECT_EQ(fixed_later(duplicate, "3.2.7"), std::nullopt);
  EXPECT_EQ(fixed_later(duplicate, "2.4.1"), std::nullopt) << "fixed already, so what shows there is something new";
  EXPECT_EQ(fixed_later(duplicate, "0.9"), "1.9.7");
  EXPECT_EQ(fixed_later(duplicate, ""), std::nullopt);
  EXPECT_EQ(fixed_later(Json::object(), "2.0.9"), std::nullopt);
}

TEST(Upstream, EntriesAreOfAFindingAndItsSize) {
  EXPECT_EQ(upstream_entries("mimalloc", "duplicates", of("redundant-fresh", 100 << 20)).size(), 1U);
  EXPECT_TRUE(upstream_entries("mimalloc", "duplicates", of("redundant-reuse", 100 << 20)).empty());
  EXPECT_EQ(upstream_entries("jemalloc", "duplicates", of("purge-storm", 1 << 20)).size(), 1U);
  EXPECT_TRUE(upstream_entries("jemalloc", "duplicates", of("purge-storm", 100 << 20)).empty());
  EXPECT_TRUE(upstream_entries("nobody", "duplicates", of("purge-storm", 1)).empty());
}

TEST(Upstream, EveryEntryIsAboutFindingsOfRulesThatThereAre) {
  ASSERT_GE(embedded_upstreams().size(), 7U);
  for (const auto& entry : embedded_upstreams()) {
    const Json* upstream = upstream_of(entry.first);
    ASSERT_NE(upstream, nullptr);
    EXPECT_EQ(upstream->at("name"), entry.first);
    for (const char* list : {"knobs", "causes", "duplicates"}) {
      for (const Json& each : upstream->at(list)) {
        for (const Json& name : each.at("findings")) {
          bool known = false;
          for (const FindingRule* rule : FindingRule::all()) {
            known = known || name.get<std::string>().starts_with(rule->name());
          }
          EXPECT_TRUE(known) << entry.first << ": " << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace zerotax::upstream
