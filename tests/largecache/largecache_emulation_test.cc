// Where the emulations were found to decide otherwise than the source that they emulate, and rules of xzone malloc
// around these. The sequences are requests of a program; what each must do is read in Apple's source, the lines of
// which are given (libmalloc-116, -283, and -792.41.1 for xzone).
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

namespace zerotax::largecache {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;
constexpr std::size_t kSlice = 16 * kKiB;
constexpr std::size_t kSegment = 4 * kMiB;

bool Aligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

// A heap that gives back what it holds.
class Emulation : public testing::Test {
 protected:
  explicit Emulation(const Settings& settings) : heap_(settings) {}
  ~Emulation() override { heap_.Decay(true); }

  char* Get(std::size_t size) { return static_cast<char*>(Malloc(heap_, size)); }
  char* GetAligned(std::size_t alignment, std::size_t size) {
    return static_cast<char*>(Memalign(heap_, alignment, size));
  }
  char* GetZero(std::size_t size) { return static_cast<char*>(Calloc(heap_, 1, size)); }
  char* Change(char* block, std::size_t size) { return static_cast<char*>(Realloc(heap_, block, size)); }
  void Give(char* block) { Free(heap_, block); }
  std::size_t Usable(char* block) { return UsableSize(heap_, block); }
  struct largecache_statistics Now() {
    return Statistics(heap_);
  }

  LargeHeap heap_;
};

class Libmalloc116 : public Emulation {
 protected:
  Libmalloc116() : Emulation(SettingsOf("libmalloc-116")) {}
};
class Libmalloc283With32GiB : public Emulation {
 protected:
  Libmalloc283With32GiB() : Emulation(SettingsOf("libmalloc-283", 32 * kGiB)) {}
};
class Libmalloc283Below : public Emulation {
 protected:
  Libmalloc283Below() : Emulation(SettingsOf("libmalloc-283", 32 * kGiB - 1)) {}
};
class Xzone792 : public Emulation {
 protected:
  Xzone792() : Emulation(SettingsOf("xzone-792")) {}
};

// A sanitizer needs more address space than any limit leaves it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Has the process `bytes` of address space left, and no more.
bool LeaveAddressSpace(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * kPage + bytes, RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

// malloc 1000000; free; malloc 2000000 while mapping fails: libmalloc says that there is no memory and keeps its cache
// (magazine_large.c:463-465). Ours gives the cache back and asks again, on purpose.
TEST_F(Libmalloc116, GivesItsCacheBackAndAsksAgainWhenMappingFailsUnlikeApples) {
  const auto sequence = [&](std::size_t left) {
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    Give(Get(1'000'000));
    EXPECT_EQ(Now().entries, 1U);
    if (!LeaveAddressSpace(left)) std::cerr << "no limit could be set\n";
    errno = 0;
    char* const block = Get(2'000'000);
    const int error = errno;
    setrlimit(RLIMIT_AS, &before);
    EXPECT_EQ(Now().entries, 0U) << "the cache has been given back";
    EXPECT_EQ(Now().cached_bytes, 0U);
    EXPECT_TRUE(block != nullptr || error == ENOMEM);
    Give(block);
    heap_.Decay(true);
    return block != nullptr;
  };
  EXPECT_TRUE(sequence(1'500'000)) << "with the cache's 1,003,520 bytes there is room";
  EXPECT_FALSE(sequence(500'000)) << "without room in spite of that, nothing else is tried";
}
#endif

// magazine_malloc.c:749, :508: 6,292,504 would get 6,324,224 bytes, which is more than half of 12,587,008.
TEST_F(Libmalloc283With32GiB, ReallocComparesHalfWithTheRoundedSizeOfTheMediumClass) {
  char* const block = Get(12'587'008);
  ASSERT_EQ(Usable(block), 12'587'008U);
  EXPECT_EQ(Change(block, 6'292'504), block);
  EXPECT_EQ(Usable(block), 12'587'008U);
  EXPECT_EQ(Now().entries, 0U);
  // Half is 6,293,504; the last multiple of 32 KiB below it 6,291,456.
  EXPECT_EQ(Change(block, 6'291'457), block);
  char* const moved = Change(block, 6'291'456);
  EXPECT_NE(moved, block);
  EXPECT_EQ(Now().entries, 1U) << "the old block is cached";
  Give(moved);
}

// 6,291,457 bytes would get 6,324,224: above and below half, and neither to 16 nor to 64 KiB.
TEST_F(Libmalloc283With32GiB, TheMediumClassCountsIn32KiB) {
  char* const above = Get(2 * (6'291'456 + 20 * kKiB));
  EXPECT_EQ(Change(above, 6'291'457), above);
  char* const below = Get(2 * (6'291'456 + 36 * kKiB));
  char* const moved = Change(below, 6'291'457);
  EXPECT_NE(moved, below);
  Give(moved);
  Give(above);
}

// Small and tiny requests are rounded, too, but to what divides half of any block.
TEST_F(Libmalloc283With32GiB, ReallocToASmallBlockMovesForHalfOrLess) {
  char* const block = Get(8 * kMiB + 1);
  char* const moved = Change(block, 32 * kKiB);
  EXPECT_NE(moved, block);
  Give(moved);
}

TEST_F(Libmalloc283Below, ReallocComparesTheVerySize) {
  char* const block = Get(36'864);
  EXPECT_EQ(Change(block, 18'433), block);
  char* const moved = Change(block, 18'432);
  EXPECT_NE(moved, block);
  EXPECT_EQ(Now().entries, 1U);
  Give(moved);
  char* const large = Get(12'587'008);
  EXPECT_EQ(Change(large, 6'292'504), large) << "1537 of 3073 pages: more than half";
  EXPECT_EQ(Usable(large), 12'587'008U);
  EXPECT_EQ(Change(large, 6'291'456), large) << "from large to large in place";
  EXPECT_EQ(Usable(large), 6'291'456U);
  Give(large);
}

// xzone_malloc.c:312, xzone_segment.c:2299-2303: 257 slices are less than twice 129.
TEST_F(Xzone792, CountsInSlicesOf16KiB) {
  char* const block = Get(4'210'688);
  ASSERT_EQ(Usable(block), 257 * kSlice);
  Give(block);
  EXPECT_EQ(Get(2'097'153), block);
  EXPECT_EQ(Usable(block), 257 * kSlice) << "never split";
  char* const fresh = Get(2'097'153);
  EXPECT_EQ(Usable(fresh), 2'113'536U);
  Give(fresh);
  EXPECT_EQ(GetZero(2'097'153), fresh);
  EXPECT_EQ(Now().zeroed_bytes, 2'113'536U);
  Give(block);
  EXPECT_EQ(GetZero(2'113'537), block) << "130 slices";
  EXPECT_EQ(Now().zeroed_bytes, 2'113'536U + 257 * kSlice) << "the whole block";
  Give(fresh);
  Give(block);
  EXPECT_EQ(Now().cached_bytes, (257U + 129U) * kSlice);
  char* const twice = Get(258 * kSlice);
  Give(twice);
  EXPECT_NE(Get(129 * kSlice), twice) << "twice as long is not less than twice";
}

// xzone_segment.c:3263.
TEST_F(Xzone792, ReallocTrimsAtOnce) {
  char* const block = Get(8'388'608);
  std::memset(block, 0xab, 8'388'608);
  EXPECT_EQ(Change(block, 6'291'456), block);
  EXPECT_EQ(Usable(block), 6'291'456U);
  EXPECT_FALSE(IsMapped(block + 6'291'456));
  EXPECT_TRUE(IsMapped(block + 6'291'456 - kPage));
  EXPECT_EQ(Now().entries, 0U) << "2 MiB are not huge, so they are not cached";
  EXPECT_EQ(Change(block, 6'291'456 - kSlice + 1), block);
  EXPECT_EQ(Usable(block), 6'291'456U) << "no slice is left over";
  EXPECT_EQ(Change(block, 6'291'456 - kSlice), block);
  EXPECT_EQ(Usable(block), 6'291'456U - kSlice) << "one is";
  EXPECT_TRUE(AllBytes(block, 6'291'456 - kSlice, 0xab));
  Give(block);
  EXPECT_EQ(Now().cached_bytes, 6'291'456U - kSlice);
  EXPECT_EQ(Now().in_use_bytes, 0U);
}

// xzone_segment.c:2838.
TEST_F(Xzone792, ReallocPutsTheTailIntoTheCache) {
  char* const block = Get(16'777'216);
  std::memset(block, 0xab, 16'777'216);
  EXPECT_EQ(Change(block, 4'194'304), block);
  EXPECT_EQ(Usable(block), 4'194'304U);
  EXPECT_EQ(Now().entries, 1U);
  EXPECT_EQ(Now().tails, 1U);
  EXPECT_EQ(Now().cached_bytes, 12 * kMiB);
  EXPECT_EQ(Now().in_use_bytes, 4 * kMiB);
  EXPECT_TRUE(AllBytes(block + 4 * kMiB, 12 * kMiB, 0xab)) << "its pages stay";
  EXPECT_EQ(GetZero(12 * kMiB), block + 4 * kMiB) << "a block like any other";
  EXPECT_EQ(Usable(block + 4 * kMiB), 12 * kMiB);
  EXPECT_TRUE(AllBytes(block, 4 * kMiB, 0xab));
  EXPECT_TRUE(AllBytes(block + 4 * kMiB, 12 * kMiB, 0));
  Give(block + 4 * kMiB);
  Give(block);
  EXPECT_EQ(Now().entries, 2U);
  heap_.Decay(true);
  EXPECT_FALSE(IsMapped(block));
  EXPECT_FALSE(IsMapped(block + 4 * kMiB));
}

// xzone_segment.c:2815-2832: a tail begins at the next multiple of 4 MiB, and is kept if it is more than 2 MiB then.
TEST_F(Xzone792, ReallocUnmapsWhatIsBeforeTheTailAndATailThatIsNotHuge) {
  char* const block = Get(16 * kMiB);
  EXPECT_EQ(Change(block, 5 * kMiB), block);
  EXPECT_EQ(Now().cached_bytes, 8 * kMiB);
  EXPECT_FALSE(IsMapped(block + 5 * kMiB));
  EXPECT_FALSE(IsMapped(block + 8 * kMiB - kPage));
  EXPECT_TRUE(IsMapped(block + 8 * kMiB));
  EXPECT_EQ(Get(8 * kMiB), block + 8 * kMiB);
  // 8 to 10 MiB would be the tail, and is no more than 2 MiB; with a slice more it is.
  char* const shorter = Get(10 * kMiB);
  EXPECT_EQ(Change(shorter, 5 * kMiB), shorter);
  EXPECT_EQ(Now().entries, 0U);
  EXPECT_FALSE(IsMapped(shorter + 5 * kMiB));
  EXPECT_FALSE(IsMapped(shorter + 10 * kMiB - kPage));
  char* const longer = Get(10 * kMiB + kSlice);
  EXPECT_EQ(Change(longer, 5 * kMiB), longer);
  EXPECT_EQ(Now().cached_bytes, 2 * kMiB + kSlice);
  Give(block + 8 * kMiB);
  for (char* const each : {block, shorter, longer}) Give(each);
}

// The same lines: only where an entry is free, and with no look at the entry limit.
TEST(Xzone792Tails, TakeNobodysPlaceAndHaveNoLimit) {
  Settings settings = SettingsOf("xzone-792");
  settings.entries = 2;
  settings.entry_limit = 8 * kMiB;
  LargeHeap heap(settings);
  void* const first = Malloc(heap, 3 * kMiB);
  char* const block = static_cast<char*>(Malloc(heap, 32 * kMiB));
  Free(heap, first);
  EXPECT_EQ(Realloc(heap, block, 16 * kMiB), block);
  EXPECT_EQ(Statistics(heap).cached_bytes, 19 * kMiB) << "longer than an entry may be, and kept";
  EXPECT_EQ(Realloc(heap, block, 4 * kMiB), block);
  EXPECT_EQ(Statistics(heap).cached_bytes, 19 * kMiB) << "the cache is full";
  EXPECT_EQ(Statistics(heap).evictions, 0U);
  EXPECT_FALSE(IsMapped(block + 4 * kMiB));
  EXPECT_FALSE(IsMapped(block + 16 * kMiB - kPage));
  EXPECT_TRUE(IsMapped(block + 16 * kMiB));
  Free(heap, block);
  EXPECT_EQ(Statistics(heap).evictions, 1U) << "what is freed does push the oldest out";
  heap.Decay(true);
}

TEST(Xzone792Tails, AreUnmappedWhereNothingIsCached) {
  Settings settings = SettingsOf("xzone-792");
  settings.entries = 0;
  LargeHeap heap(settings);
  char* const block = static_cast<char*>(Malloc(heap, 32 * kMiB));
  EXPECT_EQ(Realloc(heap, block, 16 * kMiB), block);
  EXPECT_FALSE(IsMapped(block + 16 * kMiB));
  Free(heap, block);
  EXPECT_FALSE(IsMapped(block));
}

// xzone_malloc.c:4790: the comparison is >=.
TEST_F(Xzone792, ReallocKeepsABlockOfWhichExactlyHalfIsAskedFor) {
  char* const block = Get(4'194'304);
  std::memset(block, 0xab, 4'194'304);
  EXPECT_EQ(Change(block, 2'097'152), block);
  EXPECT_EQ(Usable(block), 4'194'304U) << "2 MiB are not huge: nothing is trimmed";
  char* const moved = Change(block, 2'097'151);
  EXPECT_NE(moved, block);
  EXPECT_TRUE(AllBytes(moved, 2'097'151, 0xab));
  EXPECT_EQ(Now().entries, 1U);
  Give(moved);
}

// xzone_segment.c:502, :2348, :2365.
TEST_F(Xzone792, StartsBlocksAtMultiplesOf4MiBSoThatEachFitsAnAlignmentUpToThat) {
  std::vector<char*> blocks;
  for (const std::size_t size : {3 * kMiB, 3 * kMiB + 1, 5 * kMiB, 8 * kMiB}) {
    for (int i = 0; i < 3; ++i) blocks.push_back(Get(size));
  }
  for (char* const block : blocks) EXPECT_TRUE(Aligned(block, kSegment));
  char* const last = Get(3 * kMiB);
  Give(last);
  for (const std::size_t alignment : {std::size_t{16}, std::size_t{4096}, 2 * kMiB, kSegment}) {
    EXPECT_EQ(GetAligned(alignment, 3 * kMiB), last) << alignment;
    Give(last);
  }
  for (char* const block : blocks) Give(block);
}

TEST_F(Xzone792, LooksForNothingInTheCacheWithAnAlignmentAbove4MiB) {
  char* const block = GetAligned(8 * kMiB, 3 * kMiB);
  EXPECT_TRUE(Aligned(block, 8 * kMiB));
  Give(block);
  EXPECT_EQ(Now().entries, 1U) << "it is cached like any other";
  char* const fresh = GetAligned(8 * kMiB, 3 * kMiB);
  EXPECT_NE(fresh, block);
  EXPECT_TRUE(Aligned(fresh, 8 * kMiB));
  EXPECT_EQ(Now().misses, 2U);
  EXPECT_EQ(Get(3 * kMiB), block);
  Give(fresh);
  Give(block);
}

// xzone_malloc.c:314: an alignment above 1 MiB makes a huge block of any size; :2961 of xzone_segment.c: it is cached
// only if its size is huge, too.
TEST_F(Xzone792, TakesARequestOfMoreThan1MiBsAlignmentForHuge) {
  char* const none = GetAligned(2 * kMiB, 0);
  char* const one = GetAligned(2 * kMiB, 100);
  EXPECT_EQ(heap_.UsableSize(none), kSlice);
  EXPECT_EQ(heap_.UsableSize(one), kSlice);
  EXPECT_TRUE(Aligned(one, kSegment));
  char* const small_block = GetAligned(kMiB, 100);
  EXPECT_EQ(heap_.UsableSize(small_block), 0U);
  EXPECT_TRUE(Aligned(small_block, kMiB));
  EXPECT_EQ(Change(one, kSlice / 2), one);
  for (char* const block : {none, one, small_block}) Give(block);
  EXPECT_EQ(Now().entries, 0U);
  // 160 slices are less than twice 96.
  char* const cached = Get(160 * kSlice);
  Give(cached);
  EXPECT_EQ(GetAligned(2 * kMiB, 96 * kSlice), cached);
  Give(cached);
  EXPECT_NE(GetAligned(2 * kMiB, 80 * kSlice), cached);
}

TEST_F(Xzone792, ReallocOfABlockThatIsLargeByItsAlignmentGoesByHalves) {
  // One with room behind it: the heap's own table, say, may lie behind the first.
  std::vector<char*> others;
  char* block = GetAligned(2 * kMiB, kMiB);
  const auto has_room = [&] {
    for (std::size_t at = kMiB; at < 3 * kMiB; at += kPage) {
      if (IsMapped(block + at)) return false;
    }
    return true;
  };
  while (!has_room() && others.size() < 20) {
    others.push_back(block);
    block = GetAligned(2 * kMiB, kMiB);
  }
  ASSERT_TRUE(has_room());
  ASSERT_EQ(heap_.UsableSize(block), kMiB);
  std::memset(block, 0xab, kMiB);
  EXPECT_EQ(Change(block, kMiB / 2), block);
  EXPECT_EQ(heap_.UsableSize(block), kMiB);
  char* const longer = Change(block, 3 * kMiB);
  EXPECT_NE(longer, block);
  EXPECT_FALSE(IsMapped(block)) << "1 MiB is not cached";
  EXPECT_TRUE(AllBytes(longer, kMiB / 2, 0xab));
  Give(longer);
  for (char* const other : others) Give(other);
  char* const again = GetAligned(2 * kMiB, kMiB);
  char* const shorter = Change(again, kMiB / 2 - 1);
  EXPECT_NE(shorter, again);
  EXPECT_EQ(heap_.UsableSize(shorter), 0U);
  Give(shorter);
}

TEST_F(Xzone792, ReallocGrowsInPlaceUpToTheNextBlock) {
  char* const block = Get(16 * kMiB);
  ASSERT_EQ(Change(block, 5 * kMiB), block);
  EXPECT_EQ(Change(block, 8 * kMiB - 1), block) << "what was before the tail is free";
  EXPECT_EQ(Usable(block), 8 * kMiB);
  char* const moved = Change(block, 8 * kMiB + 1);
  EXPECT_NE(moved, block) << "the tail is in the cache, and in the way";
  EXPECT_EQ(Usable(moved), 8 * kMiB + kSlice);
  Give(moved);
}

}  // namespace
}  // namespace zerotax::largecache
