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

void* any(LargeHeap& heap, std::size_t size) { return heap.allocate(size, 1, Contents::kAny); }
void* zero(LargeHeap& heap, std::size_t size) { return heap.allocate(size, 1, Contents::kZero); }

// Returns the bytes that the kernel may take from the mapping around `address` (LazyFree in smaps, proc(5)).
std::size_t lazily_freed(const void* address) {
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
  LargeHeap heap(with_reserve(kUnlimited));
  EXPECT_FALSE(heap.is_large(0));
  EXPECT_FALSE(heap.is_large(130'048));
  EXPECT_TRUE(heap.is_large(130'049));
  void* const block = any(heap, 130'049);
  EXPECT_EQ(heap.usable_size(block), 131'072U);
  EXPECT_TRUE(is_page_aligned(block));
  heap.deallocate(block);
}

TEST(LargeHeap, PopulatesFreshBlocksUpToTheirLimit) {
  Settings settings = settings_of("adaptive");
  settings.populate_limit = kMiB;
  LargeHeap heap(settings);
  void* const populated = zero(heap, kMiB);
  EXPECT_EQ(resident_pages(populated, kMiB), kMiB / kPage);
  EXPECT_TRUE(is_zero(populated, kMiB));
  void* const longer = any(heap, kMiB + 1);
  EXPECT_EQ(resident_pages(longer, kMiB), 0U);
  heap.deallocate(longer);
  heap.deallocate(populated);
  LargeHeap plain(settings_of("adaptive"));
  void* const sparse = zero(plain, kMiB);
  EXPECT_EQ(resident_pages(sparse, kMiB), 0U);
  plain.deallocate(sparse);
}

TEST(LargeHeap, CachesBlocksStrictlyBelow128MiB) {
  LargeHeap heap(with_reserve(kUnlimited));
  void* const at_limit = any(heap, 134'217'727);
  EXPECT_EQ(heap.usable_size(at_limit), 134'217'728U);
  heap.deallocate(at_limit);
  EXPECT_EQ(statistics_of(heap).entries, 0U);
  EXPECT_EQ(statistics_of(heap).unmapped, 1U);
  EXPECT_FALSE(is_mapped(at_limit));

  void* const above_last_page = any(heap, 134'217'728 - kPage + 1);
  heap.deallocate(above_last_page);
  EXPECT_EQ(statistics_of(heap).entries, 0U);

  void* const below = any(heap, 134'217'728 - kPage);
  heap.deallocate(below);
  EXPECT_EQ(statistics_of(heap).entries, 1U);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 134'217'728U - kPage);
  EXPECT_TRUE(is_mapped(below));
  EXPECT_EQ(any(heap, 134'217'728 - kPage), below);
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
    LargeHeap heap(with_reserve(kUnlimited));
    void* const cached = any(heap, cached_pages * kPage);
    heap.deallocate(cached);
    void* const block = any(heap, requested);
    EXPECT_EQ(block == cached, hit) << cached_pages << " pages cached, " << requested;
    EXPECT_EQ(statistics_of(heap).hits, hit ? 1U : 0U);
    EXPECT_EQ(statistics_of(heap).misses, hit ? 1U : 2U);
  }
}

TEST(LargeHeap, NeverSplitsABlock) {
  LargeHeap heap(with_reserve(kUnlimited));
  void* const block = any(heap, 100 * kPage);
  heap.deallocate(block);
  ASSERT_EQ(any(heap, 60 * kPage), block);
  EXPECT_EQ(heap.usable_size(block), 100 * kPage) << "the whole cached block";
  EXPECT_EQ(statistics_of(heap).cached_bytes, 0U);
  heap.deallocate(block);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 100 * kPage) << "cached again whole";
  EXPECT_EQ(any(heap, 100 * kPage), block);
}

TEST(LargeHeap, GivesTheNewestOfEqualBlocks) {
  LargeHeap heap(with_reserve(kUnlimited));
  void* const first = any(heap, kMiB);
  void* const second = any(heap, kMiB);
  heap.deallocate(second);
  heap.deallocate(first);
  EXPECT_EQ(any(heap, kMiB), first);
  EXPECT_EQ(any(heap, kMiB), second);
}

TEST(LargeHeap, UnmapsTheOldestWhenA17thIsFreed) {
  LargeHeap heap(with_reserve(kUnlimited));
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 18; ++i) blocks.push_back(any(heap, (40 + i) * kPage));
  for (std::size_t i = 0; i < 16; ++i) heap.deallocate(blocks[i]);
  EXPECT_EQ(statistics_of(heap).evictions, 0U);
  EXPECT_EQ(statistics_of(heap).entries, 16U);
  EXPECT_TRUE(is_mapped(blocks[0]));
  heap.deallocate(blocks[16]);
  EXPECT_EQ(statistics_of(heap).evictions, 1U);
  EXPECT_EQ(statistics_of(heap).entries, 16U);
  EXPECT_FALSE(is_mapped(blocks[0]));
  EXPECT_TRUE(is_mapped(blocks[1]));
  heap.deallocate(blocks[17]);
  EXPECT_FALSE(is_mapped(blocks[1]));
  EXPECT_TRUE(is_mapped(blocks[2]));
  std::size_t cached = 0;
  for (std::size_t i = 2; i < 18; ++i) cached += (40 + i) * kPage;
  EXPECT_EQ(statistics_of(heap).cached_bytes, cached);
  EXPECT_EQ(statistics_of(heap).reserve_bytes, cached);
}

TEST(LargeHeap, CachesNothingWithoutEntries) {
  Settings settings = with_reserve(kUnlimited);
  settings.entries = 0;
  LargeHeap heap(settings);
  void* const block = any(heap, kMiB);
  heap.deallocate(block);
  EXPECT_FALSE(is_mapped(block));
  EXPECT_EQ(statistics_of(heap).entries, 0U);
  EXPECT_EQ(statistics_of(heap).unmapped, 1U);
}

TEST(LargeHeap, MadvisesOnlyBlocksThatExceedTheReserve) {
  LargeHeap heap(with_reserve(kMiB));
  void* const a = any(heap, 512 * kKiB);
  void* const b = any(heap, 512 * kKiB);
  void* const c = any(heap, 144 * kKiB);
  heap.deallocate(a);
  heap.deallocate(b);
  EXPECT_EQ(statistics_of(heap).madvised, 0U) << "the reserve is exactly full";
  EXPECT_EQ(statistics_of(heap).reserve_bytes, kMiB);
  heap.deallocate(c);
  EXPECT_EQ(statistics_of(heap).madvised, 1U);
  EXPECT_EQ(statistics_of(heap).reserve_bytes, kMiB) << "a madvised block takes no reserve";
  EXPECT_EQ(statistics_of(heap).cached_bytes, kMiB + 144 * kKiB);
  // The reuse of the madvised block frees no reserve. The reuse of a block that is not madvised frees as much as its
  // size.
  EXPECT_EQ(any(heap, 144 * kKiB), c);
  EXPECT_EQ(statistics_of(heap).reserve_bytes, kMiB);
  EXPECT_EQ(any(heap, 400 * kKiB), b);
  EXPECT_EQ(statistics_of(heap).reserve_bytes, 512 * kKiB);
  heap.deallocate(c);
  EXPECT_EQ(statistics_of(heap).madvised, 1U) << "there is room again";
  EXPECT_EQ(statistics_of(heap).reserve_bytes, 656 * kKiB);
}

TEST(LargeHeap, GivesReserveBackWhenItEvicts) {
  Settings settings = with_reserve(kMiB);
  settings.entries = 2;
  LargeHeap heap(settings);
  void* const dirty = any(heap, kMiB);
  void* const offered = any(heap, kMiB);
  void* const third = any(heap, kMiB);
  void* const fourth = any(heap, kMiB);
  heap.deallocate(dirty);
  heap.deallocate(offered);
  EXPECT_EQ(statistics_of(heap).reserve_bytes, kMiB);
  heap.deallocate(third);  // the freed block is madvised before the eviction makes room, as in libmalloc
  EXPECT_EQ(statistics_of(heap).madvised, 2U);
  EXPECT_EQ(statistics_of(heap).reserve_bytes, 0U);
  heap.deallocate(fourth);
  EXPECT_EQ(statistics_of(heap).reserve_bytes, kMiB);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 2 * kMiB);
}

// The kernel moves pages to its list of lazily freed pages in batches of at most 31 per processor (mm/swap.c). A
// mapping in smaps may also hold blocks of earlier tests. The test therefore checks differences, with 1 MiB of slack.
TEST(LargeHeap, OffersTheWholeBlockToTheKernelAndKeepsItResident) {
  LargeHeap heap(with_reserve(0));
  void* const block = any(heap, 16 * kMiB);
  std::memset(block, 0xab, 16 * kMiB);
  const std::size_t before = lazily_freed(block);
  heap.deallocate(block);
  EXPECT_GT(lazily_freed(block), before + 15 * kMiB);
  EXPECT_EQ(resident_pages(block, 16 * kMiB), 16 * kMiB / page_size()) << "not MADV_DONTNEED";
}

TEST(LargeHeap, LeavesBlocksWithinTheReserveAsTheyAre) {
  LargeHeap heap(with_reserve(16 * kMiB));
  void* const block = any(heap, 16 * kMiB);
  std::memset(block, 0xab, 16 * kMiB);
  const std::size_t before = lazily_freed(block);
  heap.deallocate(block);
  EXPECT_LT(lazily_freed(block), before + kMiB);
  ASSERT_EQ(any(heap, 16 * kMiB), block);
  EXPECT_TRUE(all_bytes(block, 16 * kMiB, 0xab)) << "malloc clears nothing";
}

TEST(LargeHeap, UnmapsABlockThatCannotBeMadvised) {
  LargeHeap heap(with_reserve(0));
  void* const block = any(heap, kMiB);
  // MADV_FREE works only on private anonymous pages (madvise(2): EINVAL).
  ASSERT_EQ(mmap(block, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), block);
  heap.deallocate(block);
  EXPECT_FALSE(is_mapped(block));
  EXPECT_EQ(statistics_of(heap).entries, 0U);
  EXPECT_EQ(statistics_of(heap).madvised, 0U);
  EXPECT_EQ(statistics_of(heap).unmapped, 1U);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 0U);
}

TEST(LargeHeap, ClearsTheRequestedPagesOfABlockAndNoMore) {
  LargeHeap heap(with_reserve(kUnlimited));
  void* const block = any(heap, 100 * kPage);
  std::memset(block, 0xab, 100 * kPage);
  heap.deallocate(block);
  ASSERT_EQ(zero(heap, 60 * kPage + 1), block);
  EXPECT_TRUE(all_bytes(block, 61 * kPage, 0)) << "up to the end of the last page asked for";
  EXPECT_TRUE(all_bytes(static_cast<char*>(block) + 61 * kPage, 39 * kPage, 0xab));
  EXPECT_EQ(statistics_of(heap).zeroed_bytes, 61 * kPage);
}

// The bug found in 2016: calloc clears a block that the program has not touched.
TEST(LargeHeap, ClearsABlockThatNobodyHasTouched) {
  for (const std::size_t reserve : {std::size_t{0}, kUnlimited}) {
    LargeHeap heap(with_reserve(reserve));
    for (int round = 0; round < 5; ++round) heap.deallocate(zero(heap, 8 * kMiB));
    EXPECT_EQ(statistics_of(heap).hits, 4U);
    EXPECT_EQ(statistics_of(heap).zeroed_bytes, 32 * kMiB);
    void* const block = any(heap, 8 * kMiB);
    EXPECT_EQ(resident_pages(block, 8 * kMiB), 8 * kMiB / page_size()) << "the zeros are written";
    EXPECT_EQ(statistics_of(heap).zeroed_bytes, 32 * kMiB) << "malloc clears nothing";
  }
}

TEST(LargeHeap, ClearsADirtyBlockThatWasMadvised) {
  LargeHeap heap(with_reserve(0));
  void* const block = any(heap, kMiB);
  std::memset(block, 0xab, kMiB);
  heap.deallocate(block);
  ASSERT_EQ(zero(heap, kMiB), block);
  EXPECT_TRUE(all_bytes(block, kMiB, 0));
}

TEST(LargeHeap, LeavesFreshPagesUntouched) {
  LargeHeap heap(with_reserve(kUnlimited));
  void* const block = zero(heap, 64 * kMiB);
  EXPECT_EQ(resident_pages(block, 64 * kMiB), 0U);
  EXPECT_EQ(statistics_of(heap).zeroed_bytes, 0U);
  EXPECT_TRUE(all_bytes(block, kMiB, 0));
  heap.deallocate(block);
}

TEST(LargeHeap, KnowsOnlyTheStartsOfItsOwnBlocks) {
  LargeHeap heap(with_reserve(kUnlimited));
  alignas(4096) static char foreign[4096];
  char* const block = static_cast<char*>(any(heap, kMiB));
  for (void* const other : {static_cast<void*>(foreign), static_cast<void*>(block + 4096),
                            static_cast<void*>(block + 16), static_cast<void*>(nullptr)}) {
    EXPECT_EQ(heap.usable_size(other), 0U);
    EXPECT_FALSE(heap.deallocate(other));
  }
  EXPECT_TRUE(heap.deallocate(block));
}

TEST(LargeHeap, PreservesErrnoWhenItFrees) {
  for (const std::size_t reserve : {std::size_t{0}, kUnlimited}) {
    LargeHeap heap(with_reserve(reserve));
    void* const cached = any(heap, kMiB);
    void* const unmapped = any(heap, 200 * kMiB);
    void* const shared = any(heap, kMiB);
    ASSERT_EQ(mmap(shared, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), shared);
    for (void* const block : {cached, unmapped, shared}) {
      errno = EILSEQ;
      heap.deallocate(block);
      EXPECT_EQ(errno, EILSEQ);
    }
  }
}

TEST(LargeHeap, SaysNoMemoryWhenThereIsNone) {
  LargeHeap heap(with_reserve(kUnlimited));
  for (const std::size_t size : {std::size_t{1} << 60, kUnlimited, kUnlimited + 1, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(any(heap, size), nullptr) << size;
    EXPECT_EQ(errno, ENOMEM);
  }
  errno = 0;
  EXPECT_EQ(heap.allocate(kMiB, std::size_t{1} << 63, Contents::kAny), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(LargeHeap, ReadsItsPolicyWhenItIsFirstNeededAndAgainWhileItMustWait) {
  static int asked = 0;
  LargeHeap heap([](Settings& settings) {
    settings.threshold = ++asked < 4 ? kMiB : 8 * kKiB;
    return asked >= 4;
  });
  EXPECT_FALSE(heap.is_large(100 * kKiB));
  EXPECT_FALSE(heap.is_large(kMiB));
  EXPECT_TRUE(heap.is_large(kMiB + 1));
  EXPECT_TRUE(heap.is_large(100 * kKiB)) << "the fourth answer is final";
  EXPECT_FALSE(heap.is_large(8 * kKiB));
  EXPECT_TRUE(heap.is_large(8 * kKiB + 1));
  EXPECT_EQ(asked, 4);
}

std::string pointer_text(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

TEST(LargeHeapDeathTest, StopsAtADoubleFreeAndNamesThePointer) {
  LargeHeap heap(with_reserve(kUnlimited));
  void* const block = any(heap, kMiB);
  heap.deallocate(block);
  EXPECT_EXIT(heap.deallocate(block), testing::KilledBySignal(SIGABRT),
              "largecache: double free: block " + pointer_text(block) + " has been freed before");
  EXPECT_EXIT(static_cast<void>(heap.usable_size(block)), testing::KilledBySignal(SIGABRT),
              "malloc_usable_size: block " + pointer_text(block) + " has been freed before");
}

}  // namespace
}  // namespace zerotax::largecache
