// Tests realloc of large blocks, which moves pages and adds room for growth.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "largecache/family.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

class Reallocs : public testing::TestWithParam<const char*> {
 protected:
  char* grown(char* block, std::size_t size) { return static_cast<char*>(realloc(heap_, block, size)); }

  /// Grows a block from 64 KiB to `most`, by an eighth in each step, and writes to each new byte.
  char* grow_by_eighths(std::size_t most) {
    std::size_t size = 64 * kKiB;
    auto* block = static_cast<char*>(malloc(heap_, size));
    std::memset(block, 1, size);
    while (size < most) {
      const std::size_t longer = size + size / 8;
      block = grown(block, longer);
      EXPECT_EQ(block[0], 1);
      EXPECT_EQ(block[size - 1], 1);
      std::memset(block + size, 1, longer - size);
      size = longer;
    }
    EXPECT_TRUE(all_bytes(block, size, 1));
    return block;
  }

  LargeHeap heap_{settings_of(GetParam())};
};

/// Tests of the policies that foresee growth.
class Regrowth : public Reallocs {};

TEST_P(Regrowth, KeepsEveryByteAndCopiesNoPageThatItCanMove) {
  const std::int64_t before = faults_so_far();
  char* const block = grow_by_eighths(32 * kMiB);
  // Each page is populated once, except for pages of the earlier small blocks, which glibc copies.
  if (!kUnderSanitizer) {
    EXPECT_LE(faults_so_far() - before, static_cast<std::int64_t>(36 * kMiB / kPage + 500));
  }
  free(heap_, block);
}

TEST_P(Regrowth, TheNextTimeTakesNoFaultAtAll) {
  free(heap_, grow_by_eighths(8 * kMiB));
  free(heap_, grow_by_eighths(8 * kMiB));
  const std::int64_t before = faults_so_far();
  free(heap_, grow_by_eighths(8 * kMiB));
  if (!kUnderSanitizer) {
    EXPECT_LE(faults_so_far() - before, 40) << "faults of the small blocks";
  }
}

TEST_P(Regrowth, RoomIsNoMemory) {
  char* block = grow_by_eighths(4 * kMiB);
  // A block that grew in place may have no extra room, if no free address space followed the block. The loop therefore
  // grows the block further.
  std::size_t size = 5 * kMiB;
  for (block = grown(block, size); heap_.usable_size(block) < size + size / 8; block = grown(block, size)) {
    ASSERT_LT(size, 64 * kMiB) << "the block never had any room";
    size += size / 8;
  }
  const auto statistics = statistics_of(heap_);
  EXPECT_LE(statistics.in_use_bytes, size + kPage);
  EXPECT_LE(statistics.peak_in_use_bytes, size + kPage);
  free(heap_, block);
}

TEST_P(Reallocs, OfABlockOfZerosKeepsThem) {
  auto* block = static_cast<char*>(calloc(heap_, 1, kMiB));
  // Keeps a cached block to which the bytes could be copied.
  auto* const other = static_cast<char*>(malloc(heap_, 3 * kMiB));
  std::memset(other, 0xab, 3 * kMiB);
  free(heap_, other);
  block[5 * kPage] = 1;
  block = grown(block, 2 * kMiB);
  EXPECT_TRUE(is_zero(block, 5 * kPage));
  EXPECT_EQ(block[5 * kPage], 1);
  EXPECT_TRUE(is_zero(block + 5 * kPage + 1, kMiB - 5 * kPage - 1));
  free(heap_, block);
}

// A program that has asked for the usable size may use all of it (redis does). Any other program does not know how much
// memory is usable.
TEST_P(Regrowth, KeepsAllThatMallocUsableSizeSaid) {
  char* block = grow_by_eighths(kMiB);
  const std::size_t usable = usable_size(heap_, block);
  ASSERT_GT(usable, kMiB + kMiB / 8);
  std::memset(block, 0x5a, usable);
  auto* const filled = static_cast<char*>(malloc(heap_, 4 * usable));
  std::memset(filled, 0xab, 4 * usable);
  free(heap_, filled);
  block = grown(block, 2 * usable);
  EXPECT_TRUE(all_bytes(block, usable, 0x5a));
}

TEST_P(Reallocs, ShrinksWhatHasBeenLongAndNotWhatIsGrowing) {
  char* block = grow_by_eighths(8 * kMiB);
  const std::size_t long_one = heap_.usable_size(block);
  block = grown(block, kMiB);
  EXPECT_LT(heap_.usable_size(block), long_one / 2);
  EXPECT_TRUE(all_bytes(block, kMiB, 1));
  free(heap_, block);
}

TEST_P(Regrowth, WithoutRoomInTheAddressSpaceFailsAndLeavesTheBlockAsItWas) {
  const pid_t child = fork();
  if (child == 0) {
    char* const block = grow_by_eighths(4 * kMiB);
    std::size_t pages = 0;
    FILE* const statm = std::fopen("/proc/self/statm", "r");
    if (statm == nullptr || std::fscanf(statm, "%zu", &pages) != 1) _exit(2);
    const rlimit limit{pages * kPage + 8 * kMiB, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    errno = 0;
    if (grown(block, 64 * kMiB) != nullptr) _exit(3);
    if (errno != ENOMEM || !all_bytes(block, 4 * kMiB, 1)) _exit(4);
    // The heap would prefer more extra room than is left, but accepts less.
    char* const longer = grown(block, heap_.usable_size(block) + 2 * kMiB);
    _exit(longer != nullptr && all_bytes(longer, 4 * kMiB, 1) ? 0 : 5);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

// The block has two mappings, so its pages cannot move in one step.
TEST_P(Reallocs, OfABlockWhoseMappingTheProgramChangedKeepsItsBytes) {
  for (const bool advice : {true, false}) {
    auto* block = static_cast<char*>(malloc(heap_, 3 * kMiB));
    std::memset(block, 0x3c, 3 * kMiB);
    ASSERT_EQ(madvise(block + kPage, 100 * kPage, advice ? MADV_HUGEPAGE : MADV_DONTDUMP), 0);
    block = grown(block, 9 * kMiB);
    EXPECT_TRUE(all_bytes(block, 3 * kMiB, 0x3c));
    std::memset(block, 0x3d, 9 * kMiB);
    free(heap_, block);
  }
}

// Uses blocks of all kinds, in random order, and compares them with a model of their contents.
TEST_P(Reallocs, RandomlyLosesNoByte) {
  struct Held {
    char* block = nullptr;
    std::size_t size = 0;
    unsigned char value = 0;
  };
  std::mt19937 random(1989);
  std::vector<Held> all(24);
  const auto some_size = [&] { return std::size_t{1} << (14 + random() % 9) | random() % 5000; };
  for (int step = 0; step < rounds_of(3'000); ++step) {
    Held& held = all[random() % all.size()];
    const unsigned action = random() % 8;
    if (held.block == nullptr) {
      held.size = some_size();
      const bool zero = action % 2 == 0;
      held.block = static_cast<char*>(zero ? calloc(heap_, 1, held.size) : malloc(heap_, held.size));
      ASSERT_TRUE(!zero || is_zero(held.block, held.size)) << step;
      held.value = zero && action < 4 ? 0 : static_cast<unsigned char>(step | 1);
      if (held.value != 0) std::memset(held.block, held.value, held.size);
    } else if (action < 5) {
      const std::size_t size = action < 3 ? held.size + held.size / 8 + 1 : some_size();
      auto* const moved = grown(held.block, size);
      const std::size_t kept = std::min(size, held.size);
      ASSERT_TRUE(all_bytes(moved, kept, held.value)) << step;
      if (size > kept) std::memset(moved + kept, held.value, size - kept);
      held.block = moved;
      held.size = size;
    } else {
      ASSERT_TRUE(all_bytes(held.block, held.size, held.value)) << step;
      free(heap_, held.block);
      held = {};
    }
    if (held.size > 16 * kMiB) {
      free(heap_, held.block);
      held = {};
    }
  }
  for (const Held& held : all) free(heap_, held.block);
  EXPECT_EQ(statistics_of(heap_).in_use_bytes, 0U);
}

std::string name_of(const testing::TestParamInfo<const char*>& way) {
  std::string name = way.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Regrowth, testing::Values("dirty", "adaptive"), name_of);
INSTANTIATE_TEST_SUITE_P(All, Reallocs,
                         testing::Values("dirty", "adaptive", "memset", "purge", "libmalloc-116", "xzone-792"),
                         name_of);

// A child that is forked during a move must never get a block with pages of another process.
TEST(RegrowthFork, BetweenItsStepsHarmsNobody) {
  LargeHeap heap(settings_of("adaptive"));
  std::atomic<bool> stop{false};
  std::thread grower([&] {
    while (!stop) {
      std::size_t size = 200 * kKiB;
      auto* block = static_cast<char*>(malloc(heap, size));
      while (size < 3 * kMiB) {
        block[size - 1] = 1;
        block = static_cast<char*>(realloc(heap, block, size += size / 8));
      }
      free(heap, block);
    }
  });
  for (int round = 0; round < rounds_of(200); ++round) {
    heap.prepare_fork();
    const pid_t child = fork();
    if (child == 0) {
      heap.child_after_fork();
      for (std::size_t size = 150 * kKiB; size < 4 * kMiB; size *= 2) {
        auto* block = static_cast<char*>(calloc(heap, 1, size));
        if (!is_zero(block, size)) _exit(2);
        std::memset(block, 5, size);
        block = static_cast<char*>(realloc(heap, block, 2 * size));
        if (!all_bytes(block, size, 5)) _exit(3);
        free(heap, block);
      }
      _exit(0);
    }
    heap.parent_after_fork();
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << round;
  }
  stop = true;
  grower.join();
}

}  // namespace
}  // namespace zerotax::largecache
