// realloc of large blocks by moving pages, and with room for growth.
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
  char* Grown(char* block, std::size_t size) { return static_cast<char*>(Realloc(heap_, block, size)); }

  /// From 64 KiB to `most` by an eighth at a time, each new byte written to.
  char* GrowByEighths(std::size_t most) {
    std::size_t size = 64 * kKiB;
    auto* block = static_cast<char*>(Malloc(heap_, size));
    std::memset(block, 1, size);
    while (size < most) {
      const std::size_t longer = size + size / 8;
      block = Grown(block, longer);
      EXPECT_EQ(block[0], 1);
      EXPECT_EQ(block[size - 1], 1);
      std::memset(block + size, 1, longer - size);
      size = longer;
    }
    EXPECT_TRUE(AllBytes(block, size, 1));
    return block;
  }

  LargeHeap heap_{SettingsOf(GetParam())};
};

/// Under the policies that foresee growth.
class Regrowth : public Reallocs {};

std::int64_t Faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST_P(Regrowth, KeepsEveryByteAndCopiesNoPageThatItCanMove) {
  const std::int64_t before = Faults();
  char* const block = GrowByEighths(32 * kMiB);
  // Each page is populated once, but for those of the small blocks before: glibc's are copied.
  if (!kUnderSanitizer) {
    EXPECT_LE(Faults() - before, static_cast<std::int64_t>(36 * kMiB / kPage + 500));
  }
  Free(heap_, block);
}

TEST_P(Regrowth, TheNextTimeTakesNoFaultAtAll) {
  Free(heap_, GrowByEighths(8 * kMiB));
  Free(heap_, GrowByEighths(8 * kMiB));
  const std::int64_t before = Faults();
  Free(heap_, GrowByEighths(8 * kMiB));
  if (!kUnderSanitizer) {
    EXPECT_LE(Faults() - before, 40) << "those of the small blocks";
  }
}

TEST_P(Regrowth, RoomIsNoMemory) {
  char* block = GrowByEighths(4 * kMiB);
  // A block that grew where it is may have found no address space for its room: then it grows on.
  std::size_t size = 5 * kMiB;
  for (block = Grown(block, size); heap_.UsableSize(block) < size + size / 8; block = Grown(block, size)) {
    ASSERT_LT(size, 64 * kMiB) << "it never had any room";
    size += size / 8;
  }
  const auto statistics = Statistics(heap_);
  EXPECT_LE(statistics.in_use_bytes, size + kPage);
  EXPECT_LE(statistics.peak_in_use_bytes, size + kPage);
  Free(heap_, block);
}

TEST_P(Reallocs, OfABlockOfZerosKeepsThem) {
  auto* block = static_cast<char*>(Calloc(heap_, 1, kMiB));
  // Something in the cache that the bytes could be copied to.
  auto* const other = static_cast<char*>(Malloc(heap_, 3 * kMiB));
  std::memset(other, 0xab, 3 * kMiB);
  Free(heap_, other);
  block[5 * kPage] = 1;
  block = Grown(block, 2 * kMiB);
  EXPECT_TRUE(IsZero(block, 5 * kPage));
  EXPECT_EQ(block[5 * kPage], 1);
  EXPECT_TRUE(IsZero(block + 5 * kPage + 1, kMiB - 5 * kPage - 1));
  Free(heap_, block);
}

// Who has asked how much there is may use it (redis does); who has not cannot know.
TEST_P(Regrowth, KeepsAllThatMallocUsableSizeSaid) {
  char* block = GrowByEighths(kMiB);
  const std::size_t usable = UsableSize(heap_, block);
  ASSERT_GT(usable, kMiB + kMiB / 8);
  std::memset(block, 0x5a, usable);
  auto* const filled = static_cast<char*>(Malloc(heap_, 4 * usable));
  std::memset(filled, 0xab, 4 * usable);
  Free(heap_, filled);
  block = Grown(block, 2 * usable);
  EXPECT_TRUE(AllBytes(block, usable, 0x5a));
}

TEST_P(Reallocs, ShrinksWhatHasBeenLongAndNotWhatIsGrowing) {
  char* block = GrowByEighths(8 * kMiB);
  const std::size_t long_one = heap_.UsableSize(block);
  block = Grown(block, kMiB);
  EXPECT_LT(heap_.UsableSize(block), long_one / 2);
  EXPECT_TRUE(AllBytes(block, kMiB, 1));
  Free(heap_, block);
}

TEST_P(Regrowth, WithoutRoomInTheAddressSpaceFailsAndLeavesTheBlockAsItWas) {
  const pid_t child = fork();
  if (child == 0) {
    char* const block = GrowByEighths(4 * kMiB);
    std::size_t pages = 0;
    FILE* const statm = std::fopen("/proc/self/statm", "r");
    if (statm == nullptr || std::fscanf(statm, "%zu", &pages) != 1) _exit(2);
    const rlimit limit{pages * kPage + 8 * kMiB, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    errno = 0;
    if (Grown(block, 64 * kMiB) != nullptr) _exit(3);
    if (errno != ENOMEM || !AllBytes(block, 4 * kMiB, 1)) _exit(4);
    // Less than the room that it would like to have, but enough.
    char* const longer = Grown(block, heap_.UsableSize(block) + 2 * kMiB);
    _exit(longer != nullptr && AllBytes(longer, 4 * kMiB, 1) ? 0 : 5);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

// The block has two mappings: its pages cannot move as one.
TEST_P(Reallocs, OfABlockWhoseMappingTheProgramChangedKeepsItsBytes) {
  for (const bool advice : {true, false}) {
    auto* block = static_cast<char*>(Malloc(heap_, 3 * kMiB));
    std::memset(block, 0x3c, 3 * kMiB);
    ASSERT_EQ(madvise(block + kPage, 100 * kPage, advice ? MADV_HUGEPAGE : MADV_DONTDUMP), 0);
    block = Grown(block, 9 * kMiB);
    EXPECT_TRUE(AllBytes(block, 3 * kMiB, 0x3c));
    std::memset(block, 0x3d, 9 * kMiB);
    Free(heap_, block);
  }
}

// Blocks of all kinds, in random order, beside a model of what they hold.
TEST_P(Reallocs, RandomlyLosesNoByte) {
  struct Held {
    char* block = nullptr;
    std::size_t size = 0;
    unsigned char value = 0;
  };
  std::mt19937 random(1989);
  std::vector<Held> all(24);
  const auto some_size = [&] { return std::size_t{1} << (14 + random() % 9) | random() % 5000; };
  for (int step = 0; step < (kUnderSanitizer ? 1'000 : 3'000); ++step) {
    Held& held = all[random() % all.size()];
    const unsigned action = random() % 8;
    if (held.block == nullptr) {
      held.size = some_size();
      const bool zero = action % 2 == 0;
      held.block = static_cast<char*>(zero ? Calloc(heap_, 1, held.size) : Malloc(heap_, held.size));
      ASSERT_TRUE(!zero || IsZero(held.block, held.size)) << step;
      // Often left untouched, so that there is something to match.
      held.value = zero && action < 4 ? 0 : static_cast<unsigned char>(step | 1);
      if (held.value != 0) std::memset(held.block, held.value, held.size);
    } else if (action < 5) {
      const std::size_t size = action < 3 ? held.size + held.size / 8 + 1 : some_size();
      auto* const moved = Grown(held.block, size);
      const std::size_t kept = std::min(size, held.size);
      ASSERT_TRUE(AllBytes(moved, kept, held.value)) << step;
      if (size > kept) std::memset(moved + kept, held.value, size - kept);
      held.block = moved;
      held.size = size;
    } else {
      ASSERT_TRUE(AllBytes(held.block, held.size, held.value)) << step;
      Free(heap_, held.block);
      held = {};
    }
    if (held.size > 16 * kMiB) {
      Free(heap_, held.block);
      held = {};
    }
  }
  for (const Held& held : all) Free(heap_, held.block);
  EXPECT_EQ(Statistics(heap_).in_use_bytes, 0U);
}

std::string NameOf(const testing::TestParamInfo<const char*>& way) {
  std::string name = way.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Regrowth, testing::Values("dirty", "adaptive"), NameOf);
INSTANTIATE_TEST_SUITE_P(All, Reallocs,
                         testing::Values("dirty", "adaptive", "memset", "purge", "libmalloc-116", "xzone-792"), NameOf);

// At no moment of a move does a child that is forked then see the pages of somebody else as a block of its own.
TEST(RegrowthFork, BetweenItsStepsHarmsNobody) {
  LargeHeap heap(SettingsOf("adaptive"));
  std::atomic<bool> stop{false};
  std::thread grower([&] {
    while (!stop) {
      std::size_t size = 200 * kKiB;
      auto* block = static_cast<char*>(Malloc(heap, size));
      while (size < 3 * kMiB) {
        block[size - 1] = 1;
        block = static_cast<char*>(Realloc(heap, block, size += size / 8));
      }
      Free(heap, block);
    }
  });
  for (int round = 0; round < (kUnderSanitizer ? 50 : 200); ++round) {
    heap.PrepareFork();
    const pid_t child = fork();
    if (child == 0) {
      heap.ChildAfterFork();
      for (std::size_t size = 150 * kKiB; size < 4 * kMiB; size *= 2) {
        auto* block = static_cast<char*>(Calloc(heap, 1, size));
        if (!IsZero(block, size)) _exit(2);
        std::memset(block, 5, size);
        block = static_cast<char*>(Realloc(heap, block, 2 * size));
        if (!AllBytes(block, size, 5)) _exit(3);
        Free(heap, block);
      }
      _exit(0);
    }
    heap.ParentAfterFork();
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << round;
  }
  stop = true;
  grower.join();
}

}  // namespace
}  // namespace zerotax::largecache
