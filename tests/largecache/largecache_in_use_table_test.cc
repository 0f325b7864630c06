#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "largecache/in_use_table.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

void add(InUseTable& table, std::uintptr_t address, std::size_t size) {
  ASSERT_TRUE(table.reserve());
  table.insert({address, size});
}

TEST(InUseTable, FindsNothingWhenItIsEmpty) {
  InUseTable table;
  EXPECT_EQ(table.find(kPage), 0U);
  EXPECT_EQ(table.remove(kPage).size, 0U);
  add(table, kPage, 10);
  EXPECT_EQ(table.remove(kPage).size, 10U);
  EXPECT_EQ(table.find(kPage), 0U);
  EXPECT_EQ(table.find(0), 0U);
  EXPECT_EQ(table.size(), 0U);
}

TEST(InUseTable, FindsABlockByItsStartOnly) {
  InUseTable table;
  add(table, 5 * kPage, 3 * kPage);
  EXPECT_EQ(table.find(5 * kPage), 3 * kPage);
  EXPECT_EQ(table.find(6 * kPage), 0U);
  EXPECT_EQ(table.find(0), 0U);
  table.at(5 * kPage).size = 7 * kPage;
  EXPECT_EQ(table.find(5 * kPage), 7 * kPage);
}

TEST(InUseTable, GrowsToTwicePlusOneWhenMoreThanAQuarterWouldBeTaken) {
  InUseTable table;
  add(table, kPage, 1);
  const std::size_t first = table.capacity();
  std::uintptr_t pages = 1;
  for (; (table.size() + 1) * 4 <= first; ++pages) add(table, (pages + 1) * kPage, pages + 1);
  EXPECT_EQ(table.capacity(), first);
  add(table, (pages + 1) * kPage, pages + 1);
  EXPECT_EQ(table.capacity(), 2 * first + 1);
  for (std::uintptr_t i = 1; i <= pages + 1; ++i) EXPECT_EQ(table.find(i * kPage), i);
}

// Searches for these blocks start at one slot or at two adjacent slots, at the end of the table and in its middle.
// After two of the blocks are removed, in any order, searches must find the remaining blocks.
TEST(InUseTable, SurvivesRemovalsInTheMiddleOfARunOfCollisions) {
  InUseTable sizing;
  add(sizing, kPage, 1);
  const std::uintptr_t slots = sizing.capacity();
  for (const std::uintptr_t home : {std::uintptr_t{10}, slots - 1, slots - 3}) {
    std::vector<std::uintptr_t> run;
    for (std::uintptr_t i = 1; i <= 8; ++i) run.push_back((home + i % 3 + i * slots) * kPage);
    for (std::size_t a = 0; a < run.size(); ++a) {
      for (std::size_t b = 0; b < run.size(); ++b) {
        InUseTable table;
        for (const std::uintptr_t address : run) add(table, address, address + 1);
        ASSERT_EQ(table.capacity(), slots);
        ASSERT_EQ(table.remove(run[a]).size, run[a] + 1);
        ASSERT_EQ(table.remove(run[b]).size, a == b ? 0 : run[b] + 1);
        for (std::size_t i = 0; i < run.size(); ++i) {
          ASSERT_EQ(table.find(run[i]), i == a || i == b ? 0 : run[i] + 1) << a << ' ' << b;
        }
      }
    }
  }
}

TEST(InUseTable, AgreesWithAMapUnderRandomOperations) {
  std::mt19937_64 random(116);  // NOLINT(cert-msc51-cpp): the same operations each time
  InUseTable table;
  std::map<std::uintptr_t, std::size_t> map;
  for (int step = 0; step < 200'000; ++step) {
    const bool filling = step / 40'000 % 2 == 0;
    // There are few different pages, so that most operations find an entry.
    const std::uintptr_t address = (1 + random() % 3000 * 7) * kPage;
    if (random() % 8 < (filling ? 6U : 2U)) {
      if (map.contains(address)) {
        table.at(address).size = map[address] = step + 1U;
      } else {
        add(table, address, map[address] = step + 1U);
      }
    } else if (!map.empty()) {
      auto victim = map.lower_bound(address);
      if (victim == map.end()) victim = std::prev(victim);
      ASSERT_EQ(table.remove(victim->first).size, victim->second);
      map.erase(victim);
    }
    ASSERT_EQ(table.size(), map.size());
    ASSERT_EQ(table.find(address), map.contains(address) ? map[address] : 0);
  }
  for (const auto& [address, size] : map) ASSERT_EQ(table.find(address), size);
  EXPECT_GT(map.size(), 200U) << "the table has grown";
}

}  // namespace
}  // namespace zerotax::largecache
