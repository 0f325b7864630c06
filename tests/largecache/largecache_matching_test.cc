// Tests which cached blocks malloc and calloc choose, and which pages of these blocks count as memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "largecache/adaptive/pagemap.h"
#include "largecache_testing.h"
#include "os/processor.h"
#include "zero_page.h"

namespace zerotax::largecache {
namespace {

class Matching : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!can_look()) GTEST_SKIP() << "the kernel does not report which pages are populated";
  }

  char* get(std::size_t size) { return static_cast<char*>(heap_.allocate(size, 1, Contents::kAny)); }
  char* get_zero(std::size_t size) { return static_cast<char*>(heap_.allocate(size, 1, Contents::kZero)); }
  char* filled_block(std::size_t size) {
    char* const block = get(size);
    std::memset(block, 7, size);
    return block;
  }

  LargeHeap heap_{settings_of(GetParam())};
};

TEST_P(Matching, EachGetsItsOwn) {
  char* const filled = filled_block(kMiB);
  char* const clean = get_zero(kMiB);
  heap_.deallocate(filled);
  heap_.deallocate(clean);
  EXPECT_EQ(get(kMiB), filled) << "although the clean block was freed last";
  EXPECT_EQ(get_zero(kMiB), clean);
  EXPECT_EQ(statistics_of(heap_).zeroed_bytes, 0U);
}

TEST_P(Matching, MallocLeavesWhatIsCleanToCalloc) {
  get(32 * kMiB);  // makes room in the cache, so that nothing is counted before the call to malloc
  char* const clean = get_zero(kMiB);
  clean[0] = 1;
  heap_.deallocate(clean);
  char* const fresh = get(kMiB);
  EXPECT_NE(fresh, clean);
  EXPECT_EQ(statistics_of(heap_).entries, 1U);
  EXPECT_EQ(get_zero(kMiB), clean);
  EXPECT_TRUE(is_zero(clean, kMiB));
}

TEST_P(Matching, MallocTakesWhatCallocGaveAndTheProgramFilled) {
  char* const block = get_zero(kMiB);
  std::memset(block, 1, kMiB);
  heap_.deallocate(block);
  EXPECT_EQ(get(kMiB), block);
}

TEST_P(Matching, CallocTakesWhatMallocGaveIfThereIsNothingElse) {
  char* const block = filled_block(kMiB);
  heap_.deallocate(block);
  EXPECT_EQ(get_zero(kMiB), block);
  EXPECT_TRUE(is_zero(block, kMiB));
}

// Repeats numpy's a = zeros(n); a[0] = 1; b = a + 1. The limit is the number of the program's own stores.
TEST_P(Matching, AfterItsFirstRoundsAnArrayOfZerosAndItsSumNeedNeitherFaultNorZero) {
  constexpr std::size_t kSize = 4 * kMiB;
  char* zeros = nullptr;
  char* sum = nullptr;
  struct largecache_statistics before {};
  std::int64_t faults = 0;
  constexpr int kFirst = 20;
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    if (round == kFirst) {
      before = statistics_of(heap_);
      faults = faults_so_far();
    }
    char* const next_zeros = get_zero(kSize);
    if (zeros != nullptr) heap_.deallocate(zeros);
    zeros = next_zeros;
    zeros[0] = 1;
    char* const next_sum = get(kSize);
    std::memcpy(next_sum, zeros, kSize);
    if (sum != nullptr) heap_.deallocate(sum);
    sum = next_sum;
    ASSERT_EQ(sum[0], 1);
    ASSERT_TRUE(is_zero(sum + 1, kSize - 1)) << round;
  }
  const auto after = statistics_of(heap_);
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.evictions, before.evictions);
  if (has_shared_zero_page()) {
    EXPECT_LE(after.zeroed_bytes - before.zeroed_bytes, (kRounds - kFirst) * kPage)
        << "only the page that the program writes";
  }
  // A policy may sometimes purge the block of zeros, to learn which pages are touched. After a purge, the touched page
  // takes a fault. Besides, adaptive chooses the cheaper strategy, which is a different one on an emulated CPU.
  if (!kUnderSanitizer && !cpu_is_emulated()) {
    EXPECT_LE(faults_so_far() - faults, 2 * (kRounds - kFirst));
  }
}

// The peak of memory in use is 8 MiB, so the heap may hold 10 MiB: two filled blocks, and any number of empty blocks.
TEST_P(Matching, WhatNobodyTouchedIsNoMemory) {
  char* const first = filled_block(4 * kMiB);
  heap_.deallocate(filled_block(4 * kMiB));
  heap_.deallocate(first);
  // Each block is too long for the next request, because a block of at least twice the size is not reused.
  for (const std::size_t size : {2 * kMiB, kMiB, 512 * kKiB}) heap_.deallocate(get_zero(size));
  const auto statistics = statistics_of(heap_);
  EXPECT_EQ(statistics.evictions, 0U);
  EXPECT_EQ(statistics.entries, 5U);
  EXPECT_EQ(statistics.cached_bytes, 11 * kMiB + 512 * kKiB);
  EXPECT_EQ(statistics.peak_in_use_bytes, 8 * kMiB);
}

TEST_P(Matching, WhatIsTouchedIsMemoryWhoeverGaveIt) {
  char* blocks[4];
  for (char*& block : blocks) {
    block = get_zero(4 * kMiB);
    std::memset(block, 1, 4 * kMiB);
  }
  char* const more = filled_block(2 * kMiB);
  heap_.deallocate(more);
  for (char* block : blocks) heap_.deallocate(block);
  char* again[4];
  for (char*& block : again) block = filled_block(4 * kMiB);
  char* const fifth = filled_block(4 * kMiB);
  heap_.deallocate(fifth);
  EXPECT_LE(statistics_of(heap_).in_use_bytes + statistics_of(heap_).cached_bytes, 25 * kMiB) << "1.25 times 20 MiB";
}

TEST_P(Matching, WhereNoneIsLongEnoughAShorterOneGivesItsPages) {
  heap_.deallocate(filled_block(kMiB));
  const auto before = statistics_of(heap_);
  char* const block = get(3 * kMiB);
  EXPECT_EQ(resident_pages(block, 3 * kMiB), kMiB / kPage);
  const auto after = statistics_of(heap_);
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.entries, 0U);
  std::memset(block, 9, 3 * kMiB);
  heap_.deallocate(block);
  EXPECT_EQ(get_zero(3 * kMiB), block) << "it has a witness like any other";
  EXPECT_TRUE(is_zero(block, 3 * kMiB));
}

// Acts like a program that reads files into a growing buffer. From the second file on, the program reuses the buffer of
// the previous file.
TEST_P(Matching, WhatGrowsGetsWhatGrewBeforeHoweverLong) {
  const auto growing = [&](std::size_t size) {
    return static_cast<char*>(heap_.allocate(size, 1, Contents::kAny, true));
  };
  constexpr std::size_t kShort = 132 * kKiB;
  char* const filled = filled_block(16 * kMiB);
  heap_.deallocate(filled);
  char* const first = growing(kShort);
  EXPECT_NE(first, filled) << "more than 64 times as long, and no block is known to have grown to that size";
  heap_.deallocate(first);
  heap_.decay(true);
  char* const grown = growing(16 * kMiB);
  std::memset(grown, 1, 16 * kMiB);
  heap_.deallocate(grown);
  EXPECT_NE(get(kShort), grown) << "this request need not grow";
  EXPECT_EQ(growing(kShort), grown);
}

TEST_P(Matching, CallocIsGivenFreshPagesRatherThanAShorterBlock) {
  heap_.deallocate(filled_block(kMiB));
  char* const block = get_zero(3 * kMiB);
  EXPECT_EQ(resident_pages(block, 3 * kMiB), 0U);
  EXPECT_EQ(statistics_of(heap_).entries, 1U);
}

TEST_P(Matching, WhereAllAreTooLongOneIsCut) {
  char* const whole = filled_block(32 * kMiB);
  heap_.deallocate(whole);
  char* const first = get(8 * kMiB);
  EXPECT_EQ(first, whole);
  EXPECT_EQ(statistics_of(heap_).entries, 1U) << "the rest";
  EXPECT_EQ(statistics_of(heap_).tails, 1U);
  char* const second = get(12 * kMiB);
  EXPECT_EQ(second, first + 8 * kMiB + witness_size());
  EXPECT_EQ(resident_pages(second, 12 * kMiB), 12 * kMiB / kPage);
  std::memset(first, 1, 8 * kMiB);
  std::memset(second, 2, heap_.usable_size(second));
  EXPECT_TRUE(all_bytes(first, 8 * kMiB, 1));
  heap_.deallocate(first);
  EXPECT_EQ(get_zero(8 * kMiB), first) << "it has a witness like any other";
  EXPECT_TRUE(is_zero(first, 8 * kMiB));
  heap_.deallocate(first);
  heap_.decay(true);
  EXPECT_FALSE(is_mapped(first + 8 * kMiB + witness_size() - kPage));
  EXPECT_TRUE(all_bytes(second, heap_.usable_size(second), 2)) << "the part that was cut off is a block of its own";
  heap_.deallocate(second);
  EXPECT_EQ(get_zero(12 * kMiB), second);
  EXPECT_TRUE(is_zero(second, 12 * kMiB));
  EXPECT_EQ(statistics_of(heap_).misses, 1U);
  EXPECT_EQ(statistics_of(heap_).altered, 0U);
}

// The long block is kept whole for a later request.
TEST_P(Matching, NoneIsCutForAFewMiB) {
  heap_.deallocate(filled_block(32 * kMiB));
  get(2 * kMiB);
  EXPECT_EQ(statistics_of(heap_).cached_bytes, 32 * kMiB);
}

// Requests of 46 MiB and 11 MiB alternate, as in ImageMagick. Once the cache has had a block of each size, nothing is
// cut or moved.
TEST_P(Matching, CuttingComesToAnEnd) {
  constexpr int kRounds = 20;
  struct largecache_statistics before {};
  std::int64_t faults = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (round == 2) {
      before = statistics_of(heap_);
      faults = faults_so_far();
    }
    heap_.deallocate(filled_block(46 * kMiB));
    char* const shorter = filled_block(11 * kMiB);
    char* const longer = filled_block(46 * kMiB);
    heap_.deallocate(shorter);
    heap_.deallocate(longer);
  }
  EXPECT_EQ(statistics_of(heap_).misses, before.misses);
  if (!kUnderSanitizer) {
    EXPECT_EQ(faults_so_far(), faults);
  }
}

// The kernel counts the pages, through a descriptor above 256. If this descriptor was closed, the heap opens a new one.
TEST_P(Matching, BlocksThatNobodyTouchesAreNotCountedWhileTheyFit) {
  if (GetParam() == std::string("dirty")) GTEST_SKIP() << "this policy does not learn what is touched";
  const auto counts_at_free = [&](char* block) {
    close_range(256, 512, 0);
    heap_.deallocate(block);
    for (int descriptor = 256; descriptor <= 512; ++descriptor) {
      if (fcntl(descriptor, F_GETFD) >= 0) return true;
    }
    return false;
  };
  for (int round = 0; round < 8; ++round) {
    const bool counted = counts_at_free(get_zero(kMiB));
    const bool counted_beside = counts_at_free(get_zero(256 * kKiB));
    if (round < 3) continue;  // the policy learns for three rounds
    EXPECT_FALSE(counted) << round;
    EXPECT_FALSE(counted_beside) << round;
  }
  bool counted = false;
  for (int round = 0; round < 16; ++round) {
    char* const block = get_zero(256 * kKiB);
    std::memset(block, 1, 256 * kKiB);
    counted |= counts_at_free(block);
  }
  EXPECT_TRUE(counted) << "this block is touched";
}

INSTANTIATE_TEST_SUITE_P(All, Matching, testing::Values("dirty", "adaptive"));

}  // namespace
}  // namespace zerotax::largecache
