#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "largecache/family.h"
#include "largecache/small.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

class Family : public testing::Test {
 protected:
  std::size_t usable(void* block) { return usable_size(heap_, block); }
  bool is_large(void* block) { return heap_.usable_size(block) != 0; }

  /// Returns a block of `pages` pages whose bytes are all 0xab. The `room` pages after the block are unmapped.
  char* block_with_room(std::size_t pages, std::size_t room) {
    char* const block = static_cast<char*>(malloc(heap_, 2 * (pages + room) * kPage));
    EXPECT_TRUE(heap_.resize_in_place(block, 2 * (pages + room) * kPage, pages * kPage));
    std::memset(block, 0xab, pages * kPage);
    return block;
  }

  LargeHeap heap_{with_reserve(kUnlimited)};
};

std::size_t mapped_pages() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST_F(Family, SendsRequestsAboveTheThresholdToTheLargeHeapAndNoOthers) {
  void* const small_block = malloc(heap_, 130'048);
  void* const large_block = malloc(heap_, 130'049);
  void* const small_zero = calloc(heap_, 130'048 / 16, 16);
  void* const large_zero = calloc(heap_, 130'064 / 16, 16);
  EXPECT_FALSE(is_large(small_block));
  EXPECT_TRUE(is_large(large_block));
  EXPECT_FALSE(is_large(small_zero));
  EXPECT_TRUE(is_large(large_zero));
  for (void* const block : {small_block, large_block, small_zero, large_zero}) free(heap_, block);
  EXPECT_EQ(statistics_of(heap_).misses, 2U);
  free(heap_, nullptr);
}

TEST_F(Family, GivesZeroBytesAnAddressOfTheirOwn) {
  void* const a = malloc(heap_, 0);
  void* const b = malloc(heap_, 0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  free(heap_, a);
  free(heap_, b);
}

TEST_F(Family, RefusesProductsThatOverflow) {
  void* const block = malloc(heap_, kMiB);
  // The first product is just too large. The second product overflows to 1 MiB.
  for (const std::size_t count : {SIZE_MAX / kMiB + 1, (std::size_t{1} << 44) + 1}) {
    errno = 0;
    EXPECT_EQ(calloc(heap_, count, kMiB), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(reallocarray(heap_, block, count, kMiB), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_EQ(usable(block), kMiB) << "the old block is still there";
  EXPECT_EQ(reallocarray(heap_, block, 16, 60 * kKiB), block);
  free(heap_, block);
}

TEST_F(Family, ReallocKeepsABlockOfTheSameRoundedSize) {
  void* const block = malloc(heap_, 100 * kPage - 5);
  EXPECT_EQ(realloc(heap_, block, 99 * kPage + 1), block);
  EXPECT_EQ(realloc(heap_, block, 100 * kPage), block);
  EXPECT_EQ(usable(block), 100 * kPage);
  free(heap_, block);
}

TEST_F(Family, ReallocUnmapsTheTailOfABlockThatShrinksToHalfOrLess) {
  char* const block = static_cast<char*>(malloc(heap_, 200 * kPage));
  std::memset(block, 0xab, 200 * kPage);
  EXPECT_EQ(realloc(heap_, block, 100 * kPage + 1), block);
  EXPECT_EQ(usable(block), 200 * kPage) << "one byte too many, so unchanged";
  EXPECT_TRUE(is_mapped(block + 199 * kPage));
  EXPECT_EQ(realloc(heap_, block, 100 * kPage), block);
  EXPECT_EQ(usable(block), 100 * kPage);
  EXPECT_FALSE(is_mapped(block + 100 * kPage));
  EXPECT_TRUE(all_bytes(block, 100 * kPage, 0xab));
  free(heap_, block);
  EXPECT_EQ(statistics_of(heap_).cached_bytes, 100 * kPage);
}

TEST_F(Family, ReallocGrowsInPlaceWhereNothingIsInTheWay) {
  char* const block = block_with_room(50, 50);
  EXPECT_EQ(realloc(heap_, block, 80 * kPage - 1), block);
  EXPECT_EQ(usable(block), 80 * kPage);
  EXPECT_TRUE(all_bytes(block, 50 * kPage, 0xab));
  std::memset(block, 0xcd, 80 * kPage);
  free(heap_, block);
  EXPECT_EQ(statistics_of(heap_).cached_bytes, 80 * kPage);
}

TEST_F(Family, ReallocMovesABlockThatHasANeighbour) {
  char* const block = block_with_room(50, 50);
  // Any mapping after the block prevents growth in place, even a cached block of the heap.
  void* const neighbour =
      mmap(block + 70 * kPage, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(neighbour, block + 70 * kPage);
  void* const moved = realloc(heap_, block, 80 * kPage);
  EXPECT_NE(moved, block);
  EXPECT_EQ(usable(moved), 80 * kPage);
  EXPECT_TRUE(all_bytes(moved, 50 * kPage, 0xab));
  EXPECT_FALSE(is_mapped(block + 50 * kPage)) << "no part of an extension is left";
  EXPECT_EQ(statistics_of(heap_).cached_bytes, 50 * kPage) << "the old block is in the cache";
  munmap(neighbour, 4096);
  free(heap_, moved);
}

TEST_F(Family, ReallocMovesIntoABlockWithoutClearingIt) {
  char* const dirty = static_cast<char*>(malloc(heap_, 120 * kPage));
  std::memset(dirty, 0xee, 120 * kPage);
  char* const block = block_with_room(50, 50);
  void* const neighbour =
      mmap(block + 50 * kPage, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(neighbour, block + 50 * kPage);
  free(heap_, dirty);
  ASSERT_EQ(realloc(heap_, block, 100 * kPage), dirty);
  EXPECT_TRUE(all_bytes(dirty, 50 * kPage, 0xab));
  EXPECT_TRUE(all_bytes(dirty + 50 * kPage, 70 * kPage, 0xee));
  EXPECT_EQ(statistics_of(heap_).zeroed_bytes, 0U);
  EXPECT_EQ(usable(dirty), 120 * kPage);
  munmap(neighbour, 4096);
  free(heap_, dirty);
}

TEST_F(Family, ReallocMovesToASmallBlockOnlyForHalfOrLess) {
  void* const block = malloc(heap_, 131'072);
  std::memset(block, 0xab, 131'072);
  EXPECT_EQ(realloc(heap_, block, 130'048), block);
  EXPECT_EQ(realloc(heap_, block, 65'537), block);
  EXPECT_EQ(usable(block), 131'072U);
  void* const moved = realloc(heap_, block, 65'536);
  EXPECT_NE(moved, block);
  EXPECT_FALSE(is_large(moved));
  EXPECT_TRUE(all_bytes(moved, 65'536, 0xab));
  EXPECT_EQ(statistics_of(heap_).entries, 1U);
  free(heap_, moved);
}

TEST_F(Family, ReallocMovesASmallBlockThatBecomesLarge) {
  void* const small_block = malloc(heap_, 1000);
  std::memset(small_block, 0xab, 1000);
  void* const still_small = realloc(heap_, small_block, 130'048);
  EXPECT_FALSE(is_large(still_small));
  void* const large_block = realloc(heap_, still_small, 130'049);
  EXPECT_TRUE(is_large(large_block));
  EXPECT_TRUE(all_bytes(large_block, 1000, 0xab));
  free(heap_, large_block);
}

TEST_F(Family, ReallocOfNothingAllocatesAndToNothingFrees) {
  void* const block = realloc(heap_, nullptr, kMiB);
  EXPECT_EQ(usable(block), kMiB);
  EXPECT_EQ(realloc(heap_, block, 0), nullptr);
  EXPECT_EQ(statistics_of(heap_).entries, 1U);
  void* const small_block = realloc(heap_, nullptr, 10);
  EXPECT_EQ(realloc(heap_, small_block, 0), nullptr);
}

TEST_F(Family, ReallocThatFailsLeavesTheBlockAlone) {
  void* const block = malloc(heap_, kMiB);
  std::memset(block, 0xab, kMiB);
  for (const std::size_t size : {std::size_t{1} << 60, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(realloc(heap_, block, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_EQ(usable(block), kMiB);
  EXPECT_TRUE(all_bytes(block, kMiB, 0xab));
  free(heap_, block);
}

TEST(FamilyWithoutCache, AlignsEveryRequestAndMapsNoMoreThanItUses) {
  Settings settings = with_reserve(0);
  settings.entries = 0;
  LargeHeap heap(settings);
  free(heap, malloc(heap, kMiB));  // so that the heap maps its own table now
  for (std::size_t alignment = 8; alignment <= 64 * kMiB; alignment *= 2) {
    const std::size_t before = mapped_pages();
    void* const block = aligned_alloc(heap, alignment, 3 * kMiB + 1);
    EXPECT_EQ(mapped_pages() - before, (3 * kMiB + page_size()) / page_size()) << alignment;
    EXPECT_TRUE(is_aligned(block, alignment)) << alignment;
    EXPECT_EQ(usable_size(heap, block), 3 * kMiB + page_size());
    std::memset(block, 0xab, 3 * kMiB + page_size());
    free(heap, block);
    EXPECT_EQ(mapped_pages(), before) << alignment;
    for (const std::size_t size : {std::size_t{100}, std::size_t{130'048}}) {
      void* const small_block = aligned_alloc(heap, alignment, size);
      EXPECT_TRUE(is_aligned(small_block, alignment)) << alignment << ' ' << size;
      EXPECT_EQ(heap.usable_size(small_block), 0U);
      free(heap, small_block);
    }
  }
}

TEST_F(Family, SkipsBlocksThatAreMisaligned) {
  constexpr std::size_t kAlignment = 2 * kMiB;
  void* const aligned = aligned_alloc(heap_, kAlignment, 300 * kKiB);
  // At most one of two adjacent blocks of 300 KiB has this alignment.
  void* misaligned = malloc(heap_, 300 * kKiB);
  if (is_aligned(misaligned, kAlignment)) misaligned = malloc(heap_, 300 * kKiB);
  free(heap_, aligned);
  free(heap_, misaligned);
  EXPECT_EQ(aligned_alloc(heap_, kAlignment, 300 * kKiB), aligned) << "the aligned block is taken although it is older";
  void* const fresh = aligned_alloc(heap_, kAlignment, 300 * kKiB);
  EXPECT_NE(fresh, misaligned);
  EXPECT_TRUE(is_aligned(fresh, kAlignment));
  EXPECT_EQ(aligned_alloc(heap_, 4096, 300 * kKiB), misaligned) << "any block has the alignment of a page";
}

TEST_F(Family, ChecksAlignmentsAsPosixSays) {
  for (const std::size_t size : {std::size_t{100}, kMiB}) {
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{4}, std::size_t{24}, SIZE_MAX}) {
      void* out = &heap_;
      errno = EILSEQ;
      EXPECT_EQ(posix_memalign(heap_, &out, alignment, size), EINVAL) << alignment;
      EXPECT_EQ(out, &heap_);
      EXPECT_EQ(errno, EILSEQ);
      if (alignment == 4) continue;
      errno = 0;
      EXPECT_EQ(aligned_alloc(heap_, alignment, size), nullptr) << alignment;
      EXPECT_EQ(errno, EINVAL);
    }
    void* out = nullptr;
    EXPECT_EQ(posix_memalign(heap_, &out, 64, size), 0);
    EXPECT_TRUE(is_aligned(out, 64));
    free(heap_, out);
  }
  void* out = &heap_;
  errno = EILSEQ;
  EXPECT_EQ(posix_memalign(heap_, &out, 8, SIZE_MAX - 4096), ENOMEM);
  EXPECT_EQ(out, &heap_);
  EXPECT_EQ(errno, EILSEQ);
}

TEST_F(Family, RoundsOddAlignmentsUpForMemalign) {
  for (const std::size_t size : {std::size_t{100}, kMiB}) {
    void* const block = memalign(heap_, 5000, size);
    EXPECT_TRUE(is_aligned(block, 8192));
    free(heap_, block);
  }
  errno = 0;
  EXPECT_EQ(memalign(heap_, SIZE_MAX / 2 + 2, kMiB), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Family, GivesWholePagesToVallocAndPvalloc) {
  for (const std::size_t size : {std::size_t{100}, kMiB + 1}) {
    void* const v = valloc(heap_, size);
    void* const p = pvalloc(heap_, size);
    EXPECT_TRUE(is_aligned(v, page_size()));
    EXPECT_TRUE(is_aligned(p, page_size()));
    EXPECT_GE(usable(p), size / page_size() * page_size() + page_size());
    free(heap_, v);
    free(heap_, p);
  }
  errno = 0;
  EXPECT_EQ(pvalloc(heap_, SIZE_MAX), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST_F(Family, FreesPageAlignedBlocksOfTheSmallAllocator) {
  void* const block = aligned_alloc(heap_, 4096, 4096);
  ASSERT_FALSE(is_large(block));
  free(heap_, block);
  EXPECT_EQ(statistics_of(heap_).entries, 0U);
  EXPECT_EQ(usable_size(heap_, nullptr), 0U);
}

// small_glibc.cc reads glibc's chunk headers. This test fails if the layout of these headers changes.
TEST(Small, AgreesWithTheCLibraryOnUsableSizes) {
  const auto compare = [] {
    for (std::size_t size = 0; size < 64 * kMiB; size = size * 5 / 4 + 1) {
      for (const std::size_t alignment : {std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
        void* const block = small::allocate_aligned(alignment, size);
        ASSERT_EQ(small::usable_size(block), malloc_usable_size(block)) << size << ' ' << alignment;
        small::deallocate(block);
      }
      void* const block = small::allocate(size);
      ASSERT_EQ(small::usable_size(block), malloc_usable_size(block)) << size;
      small::deallocate(block);
    }
  };
  compare();
  // The chunks of another thread come from a different arena. The header of such a chunk says so (NON_MAIN_ARENA).
  std::thread(compare).join();
}

// Installs a filter that ends the process at the next mincore(2).
bool forbid_mincore() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mincore, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(Family, FreesASmallBlockThatStartsAPageWithoutAskingTheKernelWhetherItIsOne) {
  small::note_heap();
  // Uses up free memory that the heap had before the test.
  std::vector<void*> earlier(100);
  for (void*& block : earlier) block = aligned_alloc(heap_, kPage, 200);
  std::array<void*, 100> blocks{};
  for (void*& block : blocks) {
    block = aligned_alloc(heap_, kPage, 200);
    ASSERT_TRUE(is_aligned(block, kPage));
  }
  const pid_t child = fork();
  if (child == 0) {
    if (!forbid_mincore()) _exit(2);
    for (void* const block : blocks) free(heap_, block);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (void* const block : blocks) free(heap_, block);
  for (void* const block : earlier) free(heap_, block);
}

}  // namespace
}  // namespace zerotax::largecache
