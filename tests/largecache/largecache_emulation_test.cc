// Cases in which the emulations once decided differently from their source, and rules of xzone malloc around these
// cases. The sequences are a program's requests. The expected answers come from Apple's source, cited by line
// (libmalloc-116, -283, and -792.41.1 for xzone).
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "largecache/family.h"
#include "largecache_testing.h"
#include "small_pages.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kSlice = 16 * kKiB;
constexpr std::size_t kSegment = 4 * kMiB;

class Emulation : public testing::Test {
 protected:
  explicit Emulation(const Settings& settings) : heap_(settings) {}
  ~Emulation() override { heap_.decay(true); }

  char* get(std::size_t size) { return static_cast<char*>(malloc(heap_, size)); }
  char* get_aligned(std::size_t alignment, std::size_t size) {
    return static_cast<char*>(memalign(heap_, alignment, size));
  }
  char* get_zero(std::size_t size) { return static_cast<char*>(calloc(heap_, 1, size)); }
  char* change(char* block, std::size_t size) { return static_cast<char*>(realloc(heap_, block, size)); }
  void give(char* block) { free(heap_, block); }
  std::size_t usable(char* block) { return usable_size(heap_, block); }
  struct largecache_statistics now() {
    return statistics_of(heap_);
  }

  LargeHeap heap_;
};

class Libmalloc116 : public Emulation {
 protected:
  Libmalloc116() : Emulation(settings_of("libmalloc-116")) {}
};
class Libmalloc283With32GiB : public Emulation {
 protected:
  Libmalloc283With32GiB() : Emulation(settings_of("libmalloc-283", 32 * kGiB)) {}
};
class Libmalloc283Below : public Emulation {
 protected:
  Libmalloc283Below() : Emulation(settings_of("libmalloc-283", 32 * kGiB - 1)) {}
};
class Xzone792 : public Emulation {
 protected:
  Xzone792() : Emulation(settings_of("xzone-792")) {}
};

// Sanitizers need more address space than any limit leaves them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Limits the process's address space to `bytes` more than it has. Returns false if no limit can be set.
bool leave_address_space(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * kPage + bytes, RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

// The sequence is malloc 1000000, free, and malloc 2000000 while mapping fails. libmalloc returns NULL and keeps its
// cache (magazine_large.c:463-465). On purpose, our emulation returns the cache to the kernel and tries again.
TEST_F(Libmalloc116, GivesItsCacheBackAndAsksAgainWhenMappingFailsUnlikeApples) {
  const auto sequence = [&](std::size_t left) {
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    give(get(1'000'000));
    EXPECT_EQ(now().entries, 1U);
    if (!leave_address_space(left)) std::cerr << "no limit could be set\n";
    errno = 0;
    char* const block = get(2'000'000);
    const int error = errno;
    setrlimit(RLIMIT_AS, &before);
    EXPECT_EQ(now().entries, 0U) << "the cache has been returned";
    EXPECT_EQ(now().cached_bytes, 0U);
    EXPECT_TRUE(block != nullptr || error == ENOMEM);
    give(block);
    heap_.decay(true);
    return block != nullptr;
  };
  EXPECT_TRUE(sequence(1'500'000)) << "the cache's 1,003,520 bytes make enough room";
  EXPECT_FALSE(sequence(500'000)) << "if even that is not enough room, the call fails";
}
#endif

// magazine_malloc.c:749, :508: a request of 6,292,504 would get 6,324,224 bytes, more than half of 12,587,008.
TEST_F(Libmalloc283With32GiB, ReallocComparesHalfWithTheRoundedSizeOfTheMediumClass) {
  ONLY_WITH_SMALL_PAGES();
  char* const block = get(12'587'008);
  ASSERT_EQ(usable(block), 12'587'008U);
  EXPECT_EQ(change(block, 6'292'504), block);
  EXPECT_EQ(usable(block), 12'587'008U);
  EXPECT_EQ(now().entries, 0U);
  // Half of the block is 6,293,504 bytes. The last multiple of 32 KiB below half is 6,291,456.
  EXPECT_EQ(change(block, 6'291'457), block);
  char* const moved = change(block, 6'291'456);
  EXPECT_NE(moved, block);
  EXPECT_EQ(now().entries, 1U) << "the old block is cached";
  give(moved);
}

// A request of 6,291,457 would get 6,324,224 bytes. Half of the first block is smaller, and half of the second block is
// larger. Rounding to 16 or 64 KiB would give other answers.
TEST_F(Libmalloc283With32GiB, TheMediumClassCountsIn32KiB) {
  char* const above = get(2 * (6'291'456 + 20 * kKiB));
  EXPECT_EQ(change(above, 6'291'457), above);
  char* const below = get(2 * (6'291'456 + 36 * kKiB));
  char* const moved = change(below, 6'291'457);
  EXPECT_NE(moved, below);
  give(moved);
  give(above);
}

// Small and tiny requests are rounded, too, but to sizes that divide half of any block evenly.
TEST_F(Libmalloc283With32GiB, ReallocToASmallBlockMovesForHalfOrLess) {
  char* const block = get(8 * kMiB + 1);
  char* const moved = change(block, 32 * kKiB);
  EXPECT_NE(moved, block);
  give(moved);
}

TEST_F(Libmalloc283Below, ReallocComparesTheVerySize) {
  ONLY_WITH_SMALL_PAGES();
  char* const block = get(36'864);
  EXPECT_EQ(change(block, 18'433), block);
  char* const moved = change(block, 18'432);
  EXPECT_NE(moved, block);
  EXPECT_EQ(now().entries, 1U);
  give(moved);
  char* const large = get(12'587'008);
  EXPECT_EQ(change(large, 6'292'504), large) << "1537 of 3073 pages: more than half";
  EXPECT_EQ(usable(large), 12'587'008U);
  EXPECT_EQ(change(large, 6'291'456), large) << "shrinks in place and stays large";
  EXPECT_EQ(usable(large), 6'291'456U);
  give(large);
}

// xzone_malloc.c:312, xzone_segment.c:2299-2303: a block of 257 slices is less than twice as long as a request of 129
// slices.
TEST_F(Xzone792, CountsInSlicesOf16KiB) {
  char* const block = get(4'210'688);
  ASSERT_EQ(usable(block), 257 * kSlice);
  give(block);
  EXPECT_EQ(get(2'097'153), block);
  EXPECT_EQ(usable(block), 257 * kSlice) << "never split";
  char* const fresh = get(2'097'153);
  EXPECT_EQ(usable(fresh), 2'113'536U);
  give(fresh);
  EXPECT_EQ(get_zero(2'097'153), fresh);
  EXPECT_EQ(now().zeroed_bytes, 2'113'536U);
  give(block);
  EXPECT_EQ(get_zero(2'113'537), block) << "130 slices";
  EXPECT_EQ(now().zeroed_bytes, 2'113'536U + 257 * kSlice) << "the whole block";
  give(fresh);
  give(block);
  EXPECT_EQ(now().cached_bytes, (257U + 129U) * kSlice);
  char* const twice = get(258 * kSlice);
  give(twice);
  EXPECT_NE(get(129 * kSlice), twice) << "a block exactly twice as long is not less than twice as long";
}

// Source: xzone_segment.c:3263.
TEST_F(Xzone792, ReallocTrimsAtOnce) {
  char* const block = get(8'388'608);
  std::memset(block, 0xab, 8'388'608);
  EXPECT_EQ(change(block, 6'291'456), block);
  EXPECT_EQ(usable(block), 6'291'456U);
  EXPECT_FALSE(is_mapped(block + 6'291'456));
  EXPECT_TRUE(is_mapped(block + 6'291'456 - kPage));
  EXPECT_EQ(now().entries, 0U) << "2 MiB are not huge, so they are not cached";
  EXPECT_EQ(change(block, 6'291'456 - kSlice + 1), block);
  EXPECT_EQ(usable(block), 6'291'456U) << "no whole slice is left over";
  EXPECT_EQ(change(block, 6'291'456 - kSlice), block);
  EXPECT_EQ(usable(block), 6'291'456U - kSlice) << "one is";
  EXPECT_TRUE(all_bytes(block, 6'291'456 - kSlice, 0xab));
  give(block);
  EXPECT_EQ(now().cached_bytes, 6'291'456U - kSlice);
  EXPECT_EQ(now().in_use_bytes, 0U);
}

// Source: xzone_segment.c:2838.
TEST_F(Xzone792, ReallocPutsTheTailIntoTheCache) {
  char* const block = get(16'777'216);
  std::memset(block, 0xab, 16'777'216);
  EXPECT_EQ(change(block, 4'194'304), block);
  EXPECT_EQ(usable(block), 4'194'304U);
  EXPECT_EQ(now().entries, 1U);
  EXPECT_EQ(now().tails, 1U);
  EXPECT_EQ(now().cached_bytes, 12 * kMiB);
  EXPECT_EQ(now().in_use_bytes, 4 * kMiB);
  EXPECT_TRUE(all_bytes(block + 4 * kMiB, 12 * kMiB, 0xab)) << "its pages stay";
  EXPECT_EQ(get_zero(12 * kMiB), block + 4 * kMiB) << "the tail is a block like any other";
  EXPECT_EQ(usable(block + 4 * kMiB), 12 * kMiB);
  EXPECT_TRUE(all_bytes(block, 4 * kMiB, 0xab));
  EXPECT_TRUE(all_bytes(block + 4 * kMiB, 12 * kMiB, 0));
  give(block + 4 * kMiB);
  give(block);
  EXPECT_EQ(now().entries, 2U);
  heap_.decay(true);
  EXPECT_FALSE(is_mapped(block));
  EXPECT_FALSE(is_mapped(block + 4 * kMiB));
}

// xzone_segment.c:2815-2832: a tail begins at the next multiple of 4 MiB, and is kept if more than 2 MiB remain.
TEST_F(Xzone792, ReallocUnmapsWhatIsBeforeTheTailAndATailThatIsNotHuge) {
  char* const block = get(16 * kMiB);
  EXPECT_EQ(change(block, 5 * kMiB), block);
  EXPECT_EQ(now().cached_bytes, 8 * kMiB);
  EXPECT_FALSE(is_mapped(block + 5 * kMiB));
  EXPECT_FALSE(is_mapped(block + 8 * kMiB - kPage));
  EXPECT_TRUE(is_mapped(block + 8 * kMiB));
  EXPECT_EQ(get(8 * kMiB), block + 8 * kMiB);
  // The tail, from 8 to 10 MiB, would be exactly 2 MiB, which is too short. One more slice makes the tail long enough.
  char* const shorter = get(10 * kMiB);
  EXPECT_EQ(change(shorter, 5 * kMiB), shorter);
  EXPECT_EQ(now().entries, 0U);
  EXPECT_FALSE(is_mapped(shorter + 5 * kMiB));
  EXPECT_FALSE(is_mapped(shorter + 10 * kMiB - kPage));
  char* const longer = get(10 * kMiB + kSlice);
  EXPECT_EQ(change(longer, 5 * kMiB), longer);
  EXPECT_EQ(now().cached_bytes, 2 * kMiB + kSlice);
  give(block + 8 * kMiB);
  for (char* const each : {block, shorter, longer}) give(each);
}

// xzone_segment.c:2815-2832: a tail is kept only if an entry is free, and regardless of the entry limit.
TEST(Xzone792Tails, TakeNobodysPlaceAndHaveNoLimit) {
  Settings settings = settings_of("xzone-792");
  settings.entries = 2;
  settings.entry_limit = 8 * kMiB;
  LargeHeap heap(settings);
  void* const first = malloc(heap, 3 * kMiB);
  char* const block = static_cast<char*>(malloc(heap, 32 * kMiB));
  free(heap, first);
  EXPECT_EQ(realloc(heap, block, 16 * kMiB), block);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 19 * kMiB) << "the tail is kept although it exceeds the entry limit";
  EXPECT_EQ(realloc(heap, block, 4 * kMiB), block);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 19 * kMiB) << "the cache is full";
  EXPECT_EQ(statistics_of(heap).evictions, 0U);
  EXPECT_FALSE(is_mapped(block + 4 * kMiB));
  EXPECT_FALSE(is_mapped(block + 16 * kMiB - kPage));
  EXPECT_TRUE(is_mapped(block + 16 * kMiB));
  free(heap, block);
  EXPECT_EQ(statistics_of(heap).evictions, 1U) << "a freed block does push out the oldest";
  heap.decay(true);
}

TEST(Xzone792Tails, AreUnmappedWhereNothingIsCached) {
  Settings settings = settings_of("xzone-792");
  settings.entries = 0;
  LargeHeap heap(settings);
  char* const block = static_cast<char*>(malloc(heap, 32 * kMiB));
  EXPECT_EQ(realloc(heap, block, 16 * kMiB), block);
  EXPECT_FALSE(is_mapped(block + 16 * kMiB));
  free(heap, block);
  EXPECT_FALSE(is_mapped(block));
}

// xzone_malloc.c:4790 compares with >=, so the block stays if exactly half is requested.
TEST_F(Xzone792, ReallocKeepsABlockOfWhichExactlyHalfIsAskedFor) {
  char* const block = get(4'194'304);
  std::memset(block, 0xab, 4'194'304);
  EXPECT_EQ(change(block, 2'097'152), block);
  EXPECT_EQ(usable(block), 4'194'304U) << "2 MiB are not huge: nothing is trimmed";
  char* const moved = change(block, 2'097'151);
  EXPECT_NE(moved, block);
  EXPECT_TRUE(all_bytes(moved, 2'097'151, 0xab));
  EXPECT_EQ(now().entries, 1U);
  give(moved);
}

// Source: xzone_segment.c:502, :2348, :2365.
TEST_F(Xzone792, StartsBlocksAtMultiplesOf4MiBSoThatEachFitsAnAlignmentUpToThat) {
  std::vector<char*> blocks;
  for (const std::size_t size : {3 * kMiB, 3 * kMiB + 1, 5 * kMiB, 8 * kMiB}) {
    for (int i = 0; i < 3; ++i) blocks.push_back(get(size));
  }
  for (char* const block : blocks) EXPECT_TRUE(is_aligned(block, kSegment));
  char* const last = get(3 * kMiB);
  give(last);
  for (const std::size_t alignment : {std::size_t{16}, std::size_t{4096}, 2 * kMiB, kSegment}) {
    EXPECT_EQ(get_aligned(alignment, 3 * kMiB), last) << alignment;
    give(last);
  }
  for (char* const block : blocks) give(block);
}

TEST_F(Xzone792, LooksForNothingInTheCacheWithAnAlignmentAbove4MiB) {
  char* const block = get_aligned(8 * kMiB, 3 * kMiB);
  EXPECT_TRUE(is_aligned(block, 8 * kMiB));
  give(block);
  EXPECT_EQ(now().entries, 1U) << "the block is cached like any other";
  char* const fresh = get_aligned(8 * kMiB, 3 * kMiB);
  EXPECT_NE(fresh, block);
  EXPECT_TRUE(is_aligned(fresh, 8 * kMiB));
  EXPECT_EQ(now().misses, 2U);
  EXPECT_EQ(get(3 * kMiB), block);
  give(fresh);
  give(block);
}

// xzone_malloc.c:314: an alignment above 1 MiB makes a block huge whatever its size. xzone_segment.c:2961: such a block
// is cached only if its size is huge, too.
TEST_F(Xzone792, TakesARequestOfMoreThan1MiBsAlignmentForHuge) {
  char* const none = get_aligned(2 * kMiB, 0);
  char* const one = get_aligned(2 * kMiB, 100);
  EXPECT_EQ(heap_.usable_size(none), kSlice);
  EXPECT_EQ(heap_.usable_size(one), kSlice);
  EXPECT_TRUE(is_aligned(one, kSegment));
  char* const small_block = get_aligned(kMiB, 100);
  EXPECT_EQ(heap_.usable_size(small_block), 0U);
  EXPECT_TRUE(is_aligned(small_block, kMiB));
  EXPECT_EQ(change(one, kSlice / 2), one);
  for (char* const block : {none, one, small_block}) give(block);
  EXPECT_EQ(now().entries, 0U);
  // A block of 160 slices is less than twice as long as a request of 96 slices.
  char* const cached = get(160 * kSlice);
  give(cached);
  EXPECT_EQ(get_aligned(2 * kMiB, 96 * kSlice), cached);
  give(cached);
  EXPECT_NE(get_aligned(2 * kMiB, 80 * kSlice), cached);
}

TEST_F(Xzone792, ReallocOfABlockThatIsLargeByItsAlignmentGoesByHalves) {
  // Looks for a block with room after it. For example, the heap's own table may lie directly after the first block.
  std::vector<char*> others;
  char* block = get_aligned(2 * kMiB, kMiB);
  const auto has_room = [&] {
    for (std::size_t at = kMiB; at < 3 * kMiB; at += kPage) {
      if (is_mapped(block + at)) return false;
    }
    return true;
  };
  while (!has_room() && others.size() < 20) {
    others.push_back(block);
    block = get_aligned(2 * kMiB, kMiB);
  }
  ASSERT_TRUE(has_room());
  ASSERT_EQ(heap_.usable_size(block), kMiB);
  std::memset(block, 0xab, kMiB);
  EXPECT_EQ(change(block, kMiB / 2), block);
  EXPECT_EQ(heap_.usable_size(block), kMiB);
  char* const longer = change(block, 3 * kMiB);
  EXPECT_NE(longer, block);
  EXPECT_FALSE(is_mapped(block)) << "1 MiB is not cached";
  EXPECT_TRUE(all_bytes(longer, kMiB / 2, 0xab));
  give(longer);
  for (char* const other : others) give(other);
  char* const again = get_aligned(2 * kMiB, kMiB);
  char* const shorter = change(again, kMiB / 2 - 1);
  EXPECT_NE(shorter, again);
  EXPECT_EQ(heap_.usable_size(shorter), 0U);
  give(shorter);
}

TEST_F(Xzone792, ReallocGrowsInPlaceUpToTheNextBlock) {
  char* const block = get(16 * kMiB);
  ASSERT_EQ(change(block, 5 * kMiB), block);
  EXPECT_EQ(change(block, 8 * kMiB - 1), block) << "the memory before the tail is free";
  EXPECT_EQ(usable(block), 8 * kMiB);
  char* const moved = change(block, 8 * kMiB + 1);
  EXPECT_NE(moved, block) << "the cached tail is in the way";
  EXPECT_EQ(usable(moved), 8 * kMiB + kSlice);
  give(moved);
}

}  // namespace
}  // namespace zerotax::largecache
