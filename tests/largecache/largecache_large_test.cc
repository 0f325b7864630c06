#include "largecache/large.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

void* Any(LargeHeap& heap, std::size_t size) { return heap.Allocate(size, 1, Contents::kAny); }
void* Zero(LargeHeap& heap, std::size_t size) { return heap.Allocate(size, 1, Contents::kZero); }

// Bytes of the mapping around `address` that the kernel may take: LazyFree in smaps (proc(5)).
std::size_t LazilyFreed(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    std::size_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) {
      here = from <= wanted && wanted < to;
    } else if (here && std::sscanf(line.c_str(), "LazyFree: %zu kB", &kilobytes) == 1) {
      return kilobytes * kKiB;
    }
  }
  return 0;
}

TEST(LargeHeap, CallsARequestLargeAbove127KiB) {
  LargeHeap heap(WithReserve(kUnlimited));
  EXPECT_FALSE(heap.IsLarge(0));
  EXPECT_FALSE(heap.IsLarge(130'048));
  EXPECT_TRUE(heap.IsLarge(130'049));
  void* const block = Any(heap, 130'049);
  EXPECT_EQ(heap.UsableSize(block), 131'072U);
  EXPECT_TRUE(IsPageAligned(block));
  heap.Free(block);
}

TEST(LargeHeap, CachesBlocksStrictlyBelow128MiB) {
  LargeHeap heap(WithReserve(kUnlimited));
  void* const at_limit = Any(heap, 134'217'727);  // 134,217,728 once rounded to pages
  EXPECT_EQ(heap.UsableSize(at_limit), 134'217'728U);
  heap.Free(at_limit);
  EXPECT_EQ(Statistics(heap).entries, 0U);
  EXPECT_EQ(Statistics(heap).unmapped, 1U);
  EXPECT_FALSE(IsMapped(at_limit));

  void* const above_last_page = Any(heap, 134'217'728 - 4096 + 1);
  heap.Free(above_last_page);
  EXPECT_EQ(Statistics(heap).entries, 0U);

  void* const below = Any(heap, 134'217'728 - 4096);
  heap.Free(below);
  EXPECT_EQ(Statistics(heap).entries, 1U);
  EXPECT_EQ(Statistics(heap).cached_bytes, 134'217'728U - 4096);
  EXPECT_TRUE(IsMapped(below));
  EXPECT_EQ(Any(heap, 134'217'728 - 4096), below);
}

TEST(LargeHeap, AcceptsABestFitUpToOnePageLessThanTwice) {
  struct Row {
    std::size_t cached_pages;
    std::size_t requested;
    bool hit;
  };
  for (const auto& [cached_pages, requested, hit] :
       {Row{80, 40 * kPage, false}, Row{80, 40 * kPage + 1, true}, Row{79, 40 * kPage, true}, Row{40, 40 * kPage, true},
        Row{39, 40 * kPage, false}}) {
    LargeHeap heap(WithReserve(kUnlimited));
    void* const cached = Any(heap, cached_pages * kPage);
    heap.Free(cached);
    void* const block = Any(heap, requested);
    EXPECT_EQ(block == cached, hit) << cached_pages << " pages cached, " << requested;
    EXPECT_EQ(Statistics(heap).hits, hit ? 1U : 0U);
    EXPECT_EQ(Statistics(heap).misses, hit ? 1U : 2U);
  }
}

TEST(LargeHeap, NeverSplitsABlock) {
  LargeHeap heap(WithReserve(kUnlimited));
  void* const block = Any(heap, 100 * kPage);
  heap.Free(block);
  ASSERT_EQ(Any(heap, 60 * kPage), block);
  EXPECT_EQ(heap.UsableSize(block), 100 * kPage) << "the full cached size";
  EXPECT_EQ(Statistics(heap).cached_bytes, 0U);
  heap.Free(block);
  EXPECT_EQ(Statistics(heap).cached_bytes, 100 * kPage) << "cached again whole";
  EXPECT_EQ(Any(heap, 100 * kPage), block);
}

TEST(LargeHeap, GivesTheNewestOfEqualBlocks) {
  LargeHeap heap(WithReserve(kUnlimited));
  void* const first = Any(heap, kMiB);
  void* const second = Any(heap, kMiB);
  heap.Free(second);
  heap.Free(first);
  EXPECT_EQ(Any(heap, kMiB), first);
  EXPECT_EQ(Any(heap, kMiB), second);
}

TEST(LargeHeap, UnmapsTheOldestWhenA17thIsFreed) {
  LargeHeap heap(WithReserve(kUnlimited));
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 18; ++i) blocks.push_back(Any(heap, (40 + i) * kPage));
  for (std::size_t i = 0; i < 16; ++i) heap.Free(blocks[i]);
  EXPECT_EQ(Statistics(heap).evictions, 0U);
  EXPECT_EQ(Statistics(heap).entries, 16U);
  EXPECT_TRUE(IsMapped(blocks[0]));
  heap.Free(blocks[16]);
  EXPECT_EQ(Statistics(heap).evictions, 1U);
  EXPECT_EQ(Statistics(heap).entries, 16U);
  EXPECT_FALSE(IsMapped(blocks[0]));
  EXPECT_TRUE(IsMapped(blocks[1]));
  heap.Free(blocks[17]);
  EXPECT_FALSE(IsMapped(blocks[1]));
  EXPECT_TRUE(IsMapped(blocks[2]));
  std::size_t cached = 0;
  for (std::size_t i = 2; i < 18; ++i) cached += (40 + i) * kPage;
  EXPECT_EQ(Statistics(heap).cached_bytes, cached);
  EXPECT_EQ(Statistics(heap).reserve_bytes, cached);
}

TEST(LargeHeap, CachesNothingWithoutEntries) {
  Settings settings = WithReserve(kUnlimited);
  settings.entries = 0;
  LargeHeap heap(settings);
  void* const block = Any(heap, kMiB);
  heap.Free(block);
  EXPECT_FALSE(IsMapped(block));
  EXPECT_EQ(Statistics(heap).entries, 0U);
  EXPECT_EQ(Statistics(heap).unmapped, 1U);
}

TEST(LargeHeap, MadvisesOnlyBlocksThatExceedTheReserve) {
  LargeHeap heap(WithReserve(kMiB));
  void* const a = Any(heap, 512 * kKiB);
  void* const b = Any(heap, 512 * kKiB);
  void* const c = Any(heap, 132 * kKiB);
  heap.Free(a);
  heap.Free(b);
  EXPECT_EQ(Statistics(heap).madvised, 0U) << "the reserve is exactly full";
  EXPECT_EQ(Statistics(heap).reserve_bytes, kMiB);
  heap.Free(c);
  EXPECT_EQ(Statistics(heap).madvised, 1U);
  EXPECT_EQ(Statistics(heap).reserve_bytes, kMiB) << "a madvised block takes no reserve";
  EXPECT_EQ(Statistics(heap).cached_bytes, kMiB + 132 * kKiB);
  // Taking the madvised one frees no reserve; taking an unmadvised one frees its size.
  EXPECT_EQ(Any(heap, 132 * kKiB), c);
  EXPECT_EQ(Statistics(heap).reserve_bytes, kMiB);
  EXPECT_EQ(Any(heap, 400 * kKiB), b);
  EXPECT_EQ(Statistics(heap).reserve_bytes, 512 * kKiB);
  heap.Free(c);
  EXPECT_EQ(Statistics(heap).madvised, 1U) << "there is room again";
  EXPECT_EQ(Statistics(heap).reserve_bytes, 644 * kKiB);
}

TEST(LargeHeap, GivesReserveBackWhenItEvicts) {
  Settings settings = WithReserve(kMiB);
  settings.entries = 2;
  LargeHeap heap(settings);
  void* const dirty = Any(heap, kMiB);
  void* const offered = Any(heap, kMiB);
  void* const third = Any(heap, kMiB);
  void* const fourth = Any(heap, kMiB);
  heap.Free(dirty);
  heap.Free(offered);
  EXPECT_EQ(Statistics(heap).reserve_bytes, kMiB);
  heap.Free(third);  // madvised before the eviction makes room, as in libmalloc
  EXPECT_EQ(Statistics(heap).madvised, 2U);
  EXPECT_EQ(Statistics(heap).reserve_bytes, 0U);
  heap.Free(fourth);  // evicts a madvised one
  EXPECT_EQ(Statistics(heap).reserve_bytes, kMiB);
  EXPECT_EQ(Statistics(heap).cached_bytes, 2 * kMiB);
}

// The kernel moves pages to its lazily freed ones in batches of at most 31 per processor (mm/swap.c), and a mapping
// in smaps may hold earlier tests' blocks too: hence differences, and 1 MiB of slack.
TEST(LargeHeap, OffersTheWholeBlockToTheKernelAndKeepsItResident) {
  LargeHeap heap(WithReserve(0));
  void* const block = Any(heap, 16 * kMiB);
  std::memset(block, 0xab, 16 * kMiB);
  const std::size_t before = LazilyFreed(block);
  heap.Free(block);
  EXPECT_GT(LazilyFreed(block), before + 15 * kMiB);
  EXPECT_EQ(ResidentPages(block, 16 * kMiB), 16 * kMiB / PageSize()) << "not MADV_DONTNEED";
}

TEST(LargeHeap, LeavesBlocksWithinTheReserveAsTheyAre) {
  LargeHeap heap(WithReserve(16 * kMiB));
  void* const block = Any(heap, 16 * kMiB);
  std::memset(block, 0xab, 16 * kMiB);
  const std::size_t before = LazilyFreed(block);
  heap.Free(block);
  EXPECT_LT(LazilyFreed(block), before + kMiB);
  ASSERT_EQ(Any(heap, 16 * kMiB), block);
  EXPECT_TRUE(AllBytes(block, 16 * kMiB, 0xab)) << "malloc clears nothing";
}

TEST(LargeHeap, UnmapsABlockThatCannotBeMadvised) {
  LargeHeap heap(WithReserve(0));
  void* const block = Any(heap, kMiB);
  // MADV_FREE is for private anonymous pages only (madvise(2): EINVAL).
  ASSERT_EQ(mmap(block, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), block);
  heap.Free(block);
  EXPECT_FALSE(IsMapped(block));
  EXPECT_EQ(Statistics(heap).entries, 0U);
  EXPECT_EQ(Statistics(heap).madvised, 0U);
  EXPECT_EQ(Statistics(heap).unmapped, 1U);
  EXPECT_EQ(Statistics(heap).cached_bytes, 0U);
}

TEST(LargeHeap, ClearsTheRequestedPagesOfABlockAndNoMore) {
  LargeHeap heap(WithReserve(kUnlimited));
  void* const block = Any(heap, 100 * kPage);
  std::memset(block, 0xab, 100 * kPage);
  heap.Free(block);
  ASSERT_EQ(Zero(heap, 60 * kPage + 1), block);
  EXPECT_TRUE(AllBytes(block, 61 * kPage, 0)) << "up to the end of the last page asked for";
  EXPECT_TRUE(AllBytes(static_cast<char*>(block) + 61 * kPage, 39 * kPage, 0xab));
  EXPECT_EQ(Statistics(heap).zeroed_bytes, 61 * kPage);
}

// The bug of 2016 itself.
TEST(LargeHeap, ClearsABlockThatNobodyHasTouched) {
  for (const std::size_t reserve : {std::size_t{0}, kUnlimited}) {
    LargeHeap heap(WithReserve(reserve));
    for (int round = 0; round < 5; ++round) heap.Free(Zero(heap, 8 * kMiB));
    EXPECT_EQ(Statistics(heap).hits, 4U);
    EXPECT_EQ(Statistics(heap).zeroed_bytes, 32 * kMiB);
    void* const block = Any(heap, 8 * kMiB);
    EXPECT_EQ(ResidentPages(block, 8 * kMiB), 8 * kMiB / PageSize()) << "the zeros are written";
    EXPECT_EQ(Statistics(heap).zeroed_bytes, 32 * kMiB) << "malloc clears nothing";
  }
}

TEST(LargeHeap, ClearsADirtyBlockThatWasMadvised) {
  LargeHeap heap(WithReserve(0));
  void* const block = Any(heap, kMiB);
  std::memset(block, 0xab, kMiB);
  heap.Free(block);
  ASSERT_EQ(Zero(heap, kMiB), block);
  EXPECT_TRUE(AllBytes(block, kMiB, 0));
}

TEST(LargeHeap, LeavesFreshPagesUntouched) {
  LargeHeap heap(WithReserve(kUnlimited));
  void* const block = Zero(heap, 64 * kMiB);
  EXPECT_EQ(ResidentPages(block, 64 * kMiB), 0U);
  EXPECT_EQ(Statistics(heap).zeroed_bytes, 0U);
  EXPECT_TRUE(AllBytes(block, kMiB, 0));
  heap.Free(block);
}

TEST(LargeHeap, KnowsOnlyTheStartsOfItsOwnBlocks) {
  LargeHeap heap(WithReserve(kUnlimited));
  alignas(4096) static char foreign[4096];
  char* const block = static_cast<char*>(Any(heap, kMiB));
  for (void* const other : {static_cast<void*>(foreign), static_cast<void*>(block + 4096),
                            static_cast<void*>(block + 16), static_cast<void*>(nullptr)}) {
    EXPECT_EQ(heap.UsableSize(other), 0U);
    EXPECT_FALSE(heap.Free(other));
  }
  EXPECT_TRUE(heap.Free(block));
}

TEST(LargeHeap, PreservesErrnoWhenItFrees) {
  for (const std::size_t reserve : {std::size_t{0}, kUnlimited}) {
    LargeHeap heap(WithReserve(reserve));
    void* const cached = Any(heap, kMiB);
    void* const unmapped = Any(heap, 200 * kMiB);
    void* const shared = Any(heap, kMiB);
    ASSERT_EQ(mmap(shared, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), shared);
    for (void* const block : {cached, unmapped, shared}) {
      errno = EILSEQ;
      heap.Free(block);
      EXPECT_EQ(errno, EILSEQ);
    }
  }
}

TEST(LargeHeap, SaysNoMemoryWhenThereIsNone) {
  LargeHeap heap(WithReserve(kUnlimited));
  for (const std::size_t size : {std::size_t{1} << 60, kUnlimited, kUnlimited + 1, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(Any(heap, size), nullptr) << size;
    EXPECT_EQ(errno, ENOMEM);
  }
  errno = 0;
  EXPECT_EQ(heap.Allocate(kMiB, std::size_t{1} << 63, Contents::kAny), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(LargeHeap, ReadsItsPolicyWhenItIsFirstNeededAndAgainWhileItMustWait) {
  static int asked = 0;
  LargeHeap heap([](Settings& settings) {
    settings.threshold = ++asked < 4 ? kMiB : 8 * kKiB;
    return asked >= 4;
  });
  EXPECT_FALSE(heap.IsLarge(100 * kKiB));
  EXPECT_FALSE(heap.IsLarge(kMiB));
  EXPECT_TRUE(heap.IsLarge(kMiB + 1));
  EXPECT_TRUE(heap.IsLarge(100 * kKiB)) << "the fourth answer is final";
  EXPECT_FALSE(heap.IsLarge(8 * kKiB));
  EXPECT_TRUE(heap.IsLarge(8 * kKiB + 1));
  EXPECT_EQ(asked, 4);
}

std::string PointerText(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

TEST(LargeHeapDeathTest, StopsAtADoubleFreeAndNamesThePointer) {
  LargeHeap heap(WithReserve(kUnlimited));
  void* const block = Any(heap, kMiB);
  heap.Free(block);
  EXPECT_EXIT(heap.Free(block), testing::KilledBySignal(SIGABRT),
              "largecache: double free: block " + PointerText(block) + " has been freed before");
  EXPECT_EXIT(static_cast<void>(heap.UsableSize(block)), testing::KilledBySignal(SIGABRT),
              "malloc_usable_size: block " + PointerText(block) + " has been freed before");
}

}  // namespace
}  // namespace zerotax::largecache
