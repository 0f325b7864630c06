#include <gtest/gtest.h>

#include <map>
#include <set>

#include "run/fleet/fleet.h"

namespace zerotax::fleet {
namespace {

/// Ten groups of three items each. The times of the groups are 1 to 10 seconds.
std::vector<Item> ten_groups() {
  std::vector<Item> items;
  for (int group = 1; group <= 10; ++group) {
    for (const char* name : {"a", "b", "c"}) {
      Item& item = items.emplace_back();
      item.key = std::to_string(group) + name;
      item.group = std::to_string(group);
      item.seconds = group / 3.0;
    }
  }
  return items;
}

TEST(Shards, EveryItemIsInOneShard) {
  std::multiset<std::string> keys;
  for (const auto& shard : cut_into_shards(ten_groups(), 4)) keys.insert(shard.begin(), shard.end());
  EXPECT_EQ(keys.size(), 30U);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 30U);
}

TEST(Shards, AGroupStaysInOneShard) {
  std::map<std::string, std::set<std::size_t>> shards_of;
  const Shards shards = cut_into_shards(ten_groups(), 4);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const std::string& key : shards[i]) shards_of[key.substr(0, key.size() - 1)].insert(i);
  }
  for (const auto& [group, its] : shards_of) EXPECT_EQ(its.size(), 1U) << group;
}

TEST(Shards, TheSamePointsAlwaysGoToTheSameShard) {
  EXPECT_EQ(cut_into_shards(ten_groups(), 4), cut_into_shards(ten_groups(), 4));
}

TEST(Shards, TakeAboutTheSameTime) {
  std::map<std::string, double> seconds;
  for (const Item& item : ten_groups()) seconds[item.key] = item.seconds;
  for (const auto& shard : cut_into_shards(ten_groups(), 5)) {
    double sum = 0;
    for (const std::string& key : shard) sum += seconds[key];
    EXPECT_NEAR(sum, 11, 1e-9);
  }
}

TEST(Shards, KeepTheOrderOfItems) {
  const std::vector<Item> items = ten_groups();
  for (const auto& shard : cut_into_shards(items, 3)) {
    std::size_t at = 0;
    for (const std::string& key : shard) {
      while (at < items.size() && items[at].key != key) ++at;
      EXPECT_LT(at, items.size()) << key;
    }
  }
}

TEST(Shards, AreNotMoreThanGroups) {
  EXPECT_EQ(cut_into_shards(ten_groups(), 100).size(), 10U);
  EXPECT_EQ(cut_into_shards({}, 5).size(), 0U);
}

TEST(Shards, AreAtLeastEightIfNothingIsSaid) { EXPECT_EQ(cut_into_shards(ten_groups(), 0).size(), 8U); }

}  // namespace
}  // namespace zerotax::fleet
