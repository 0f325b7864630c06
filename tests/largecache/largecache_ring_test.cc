#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "largecache/ring.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kSlots = 16;

// A plain list with the behavior that the ring must have, oldest first.
class PlainList {
 public:
  std::optional<Block> push(const Block& block, std::size_t capacity) {
    std::optional<Block> evicted;
    if (blocks.size() == capacity) {
      evicted = blocks.front();
      blocks.erase(blocks.begin());
    }
    blocks.push_back(block);
    return evicted;
  }

  [[nodiscard]] std::optional<std::size_t> best_fit(std::size_t size, std::size_t alignment) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < blocks.size(); ++i) {  // oldest to newest, so that the newest of equal blocks is found
      if (blocks[i].size < size || blocks[i].address % alignment != 0) continue;
      if (!best || blocks[i].size <= blocks[*best].size) best = i;
    }
    return best;
  }

  Block remove(std::size_t position) {
    const Block block = blocks[position];
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(position));
    return block;
  }

  std::vector<Block> blocks;
};

Block freed(std::uintptr_t page, std::size_t pages, bool madvised = false) {
  Block block{.address = page * kPage, .size = pages * kPage};
  block.madvised = madvised;
  return block;
}

std::vector<Block> oldest_first(const Ring& ring) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < ring.size(); ++i) blocks.push_back(ring.at(i));
  return blocks;
}

TEST(Ring, HoldsNothingAtFirst) {
  const Ring ring;
  EXPECT_EQ(ring.size(), 0U);
  EXPECT_FALSE(ring.best_fit(1, 1));
  EXPECT_FALSE(ring.contains(0));
}

TEST(Ring, TakesTheNewestOfTwoEntriesOfEqualSize) {
  Ring ring;
  ring.push(freed(1, 50), kSlots);
  ring.push(freed(2, 50), kSlots);
  ring.push(freed(3, 90), kSlots);
  EXPECT_EQ(ring.best_fit(50 * kPage, 1), 1U) << "exact";
  EXPECT_EQ(ring.best_fit(49 * kPage, 1), 1U) << "inexact";
}

TEST(Ring, TakesTheSmallestEntryThatIsLargeEnough) {
  Ring ring;
  for (const std::size_t pages : {70U, 40U, 60U, 39U, 90U}) ring.push(freed(pages, pages), kSlots);
  EXPECT_EQ(ring.best_fit(40 * kPage + 1, 1), 2U);
  EXPECT_EQ(ring.best_fit(40 * kPage, 1), 1U);
  EXPECT_EQ(ring.best_fit(90 * kPage, 1), 4U);
  EXPECT_FALSE(ring.best_fit(90 * kPage + 1, 1));
}

TEST(Ring, SkipsMisalignedEntriesOnlyWhenAskedForAlignment) {
  Ring ring;
  ring.push(freed(512, 60), kSlots);
  ring.push(freed(513, 50), kSlots);
  EXPECT_EQ(ring.best_fit(50 * kPage, std::size_t{2} << 20), 0U);
  EXPECT_EQ(ring.best_fit(50 * kPage, 1), 1U);
  EXPECT_EQ(ring.best_fit(50 * kPage, 4096), 1U);
}

TEST(Ring, PushesTheOldestOutOnlyWhenItIsFull) {
  Ring ring;
  for (std::uintptr_t i = 1; i <= kSlots; ++i) EXPECT_FALSE(ring.push(freed(i, i), kSlots)) << i;
  EXPECT_EQ(ring.push(freed(17, 17, true), kSlots), freed(1, 1));
  EXPECT_EQ(ring.push(freed(18, 18), kSlots), freed(2, 2));
  EXPECT_EQ(ring.size(), kSlots);
  EXPECT_EQ(ring.at(0), freed(3, 3));
  EXPECT_EQ(ring.at(14), freed(17, 17, true));
}

TEST(Ring, KnowsWhichAddressesItHolds) {
  Ring ring;
  ring.push(freed(7, 3), kSlots);
  EXPECT_TRUE(ring.contains(7 * kPage));
  EXPECT_FALSE(ring.contains(8 * kPage)) << "inside the block, not its start";
  ring.remove(0);
  EXPECT_FALSE(ring.contains(7 * kPage));
}

// Tests every position of the oldest entry in the array, every number of entries and every removed position. The
// removed entry lies before, at and after the point at which the entries wrap around.
TEST(Ring, KeepsTheOrderOfTimeWhereverItIsWrapped) {
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{5}, kSlots, Ring::kMaxEntries}) {
    for (std::size_t turned = 0; turned < Ring::kMaxEntries; ++turned) {
      for (std::size_t fill = 1; fill <= capacity; ++fill) {
        for (std::size_t position = 0; position < fill; ++position) {
          Ring ring;
          for (std::size_t i = 0; i < turned; ++i) ring.push(freed(1000 + i, 1), 1);
          if (turned != 0) ring.remove(0);
          PlainList list;
          for (std::size_t i = 0; i < fill; ++i) {
            ring.push(freed(i, i + 1, i % 2 == 0), capacity);
            list.push(freed(i, i + 1, i % 2 == 0), capacity);
          }
          ASSERT_EQ(ring.remove(position), list.remove(position));
          ASSERT_EQ(oldest_first(ring), list.blocks);
          // The next pushed entry is the newest.
          ASSERT_FALSE(ring.push(freed(99, 99), capacity));
          list.push(freed(99, 99), capacity);
          ASSERT_EQ(oldest_first(ring), list.blocks) << turned << ' ' << fill << ' ' << position;
        }
      }
    }
  }
}

TEST(Ring, AgreesWithAPlainListUnderRandomOperations) {
  std::mt19937 random(116);  // NOLINT(cert-msc51-cpp): the same operations each time
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (const std::size_t capacity :
       {std::size_t{1}, std::size_t{2}, std::size_t{7}, kSlots, Ring::kMaxEntries - 1, Ring::kMaxEntries}) {
    Ring ring;
    PlainList list;
    for (int step = 0; step < 20'000; ++step) {
      // One half of the rounds has more pushes, the other more removals, so that the ring becomes full and empty.
      if (below(8) < (step / 500 % 2 == 0 ? 6U : 2U)) {
        const Block block = freed(below(4096), 1 + below(12), below(2) == 0);
        ASSERT_EQ(ring.push(block, capacity), list.push(block, capacity));
      } else {
        const std::size_t size = kPage * (1 + below(12));
        const std::size_t alignment = std::size_t{1} << (11 + below(4));
        const auto best = ring.best_fit(size, alignment);
        ASSERT_EQ(best, list.best_fit(size, alignment));
        if (best) {
          ASSERT_EQ(ring.remove(*best), list.remove(*best));
        }
      }
      ASSERT_EQ(ring.size(), list.blocks.size());
      ASSERT_EQ(oldest_first(ring), list.blocks);
      const std::uintptr_t address = kPage * below(4096);
      ASSERT_EQ(ring.contains(address),
                std::ranges::any_of(list.blocks, [address](const Block& block) { return block.address == address; }));
    }
  }
}

}  // namespace
}  // namespace zerotax::largecache
