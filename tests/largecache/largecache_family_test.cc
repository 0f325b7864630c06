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
  std::size_t Usable(void* block) { return UsableSize(heap_, block); }
  bool Large(void* block) { return heap_.UsableSize(block) != 0; }

  /// A block of `pages` pages, every byte 0xab, with nothing mapped for `room` pages behind it.
  char* BlockWithRoom(std::size_t pages, std::size_t room) {
    char* const block = static_cast<char*>(Malloc(heap_, 2 * (pages + room) * kPage));
    EXPECT_TRUE(heap_.ResizeInPlace(block, 2 * (pages + room) * kPage, pages * kPage));
    std::memset(block, 0xab, pages * kPage);
    return block;
  }

  LargeHeap heap_{WithReserve(kUnlimited)};
};

std::size_t MappedPages() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

bool Aligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

TEST_F(Family, SendsRequestsAboveTheThresholdToTheLargeHeapAndNoOthers) {
  void* const small_block = Malloc(heap_, 130'048);
  void* const large_block = Malloc(heap_, 130'049);
  void* const small_zero = Calloc(heap_, 130'048 / 16, 16);
  void* const large_zero = Calloc(heap_, 130'064 / 16, 16);
  EXPECT_FALSE(Large(small_block));
  EXPECT_TRUE(Large(large_block));
  EXPECT_FALSE(Large(small_zero));
  EXPECT_TRUE(Large(large_zero));
  for (void* const block : {small_block, large_block, small_zero, large_zero}) Free(heap_, block);
  EXPECT_EQ(Statistics(heap_).misses, 2U);
  Free(heap_, nullptr);
}

TEST_F(Family, GivesZeroBytesAnAddressOfTheirOwn) {
  void* const a = Malloc(heap_, 0);
  void* const b = Malloc(heap_, 0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  Free(heap_, a);
  Free(heap_, b);
}

TEST_F(Family, RefusesProductsThatOverflow) {
  void* const block = Malloc(heap_, kMiB);
  // The first product is just too large; the second is 1 MiB in the bits that remain.
  for (const std::size_t count : {SIZE_MAX / kMiB + 1, (std::size_t{1} << 44) + 1}) {
    errno = 0;
    EXPECT_EQ(Calloc(heap_, count, kMiB), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(ReallocArray(heap_, block, count, kMiB), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_EQ(Usable(block), kMiB) << "the old block is still there";
  EXPECT_EQ(ReallocArray(heap_, block, 16, 60 * kKiB), block);
  Free(heap_, block);
}

TEST_F(Family, ReallocKeepsABlockOfTheSameRoundedSize) {
  void* const block = Malloc(heap_, 100 * kPage - 5);
  EXPECT_EQ(Realloc(heap_, block, 99 * kPage + 1), block);
  EXPECT_EQ(Realloc(heap_, block, 100 * kPage), block);
  EXPECT_EQ(Usable(block), 100 * kPage);
  Free(heap_, block);
}

TEST_F(Family, ReallocUnmapsTheTailOfABlockThatShrinksToHalfOrLess) {
  char* const block = static_cast<char*>(Malloc(heap_, 200 * kPage));
  std::memset(block, 0xab, 200 * kPage);
  EXPECT_EQ(Realloc(heap_, block, 100 * kPage + 1), block);
  EXPECT_EQ(Usable(block), 200 * kPage) << "one byte too many: left alone";
  EXPECT_TRUE(IsMapped(block + 199 * kPage));
  EXPECT_EQ(Realloc(heap_, block, 100 * kPage), block);
  EXPECT_EQ(Usable(block), 100 * kPage);
  EXPECT_FALSE(IsMapped(block + 100 * kPage));
  EXPECT_TRUE(AllBytes(block, 100 * kPage, 0xab));
  Free(heap_, block);
  EXPECT_EQ(Statistics(heap_).cached_bytes, 100 * kPage);
}

TEST_F(Family, ReallocGrowsInPlaceWhereNothingIsInTheWay) {
  char* const block = BlockWithRoom(50, 50);
  EXPECT_EQ(Realloc(heap_, block, 80 * kPage - 1), block);
  EXPECT_EQ(Usable(block), 80 * kPage);
  EXPECT_TRUE(AllBytes(block, 50 * kPage, 0xab));
  std::memset(block, 0xcd, 80 * kPage);
  Free(heap_, block);
  EXPECT_EQ(Statistics(heap_).cached_bytes, 80 * kPage);
}

TEST_F(Family, ReallocMovesABlockThatHasANeighbour) {
  char* const block = BlockWithRoom(50, 50);
  // Mapped, whoever it belongs to: also a cached block is in the way.
  void* const neighbour =
      mmap(block + 70 * kPage, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(neighbour, block + 70 * kPage);
  void* const moved = Realloc(heap_, block, 80 * kPage);
  EXPECT_NE(moved, block);
  EXPECT_EQ(Usable(moved), 80 * kPage);
  EXPECT_TRUE(AllBytes(moved, 50 * kPage, 0xab));
  EXPECT_FALSE(IsMapped(block + 50 * kPage)) << "no half-done extension is left behind";
  EXPECT_EQ(Statistics(heap_).cached_bytes, 50 * kPage) << "the old block is in the cache";
  munmap(neighbour, 4096);
  Free(heap_, moved);
}

TEST_F(Family, ReallocMovesIntoABlockWithoutClearingIt) {
  char* const dirty = static_cast<char*>(Malloc(heap_, 120 * kPage));
  std::memset(dirty, 0xee, 120 * kPage);
  char* const block = BlockWithRoom(50, 50);
  void* const neighbour =
      mmap(block + 50 * kPage, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(neighbour, block + 50 * kPage);
  Free(heap_, dirty);
  ASSERT_EQ(Realloc(heap_, block, 100 * kPage), dirty);
  EXPECT_TRUE(AllBytes(dirty, 50 * kPage, 0xab));
  EXPECT_TRUE(AllBytes(dirty + 50 * kPage, 70 * kPage, 0xee));
  EXPECT_EQ(Statistics(heap_).zeroed_bytes, 0U);
  EXPECT_EQ(Usable(dirty), 120 * kPage);
  munmap(neighbour, 4096);
  Free(heap_, dirty);
}

TEST_F(Family, ReallocMovesToASmallBlockOnlyForHalfOrLess) {
  void* const block = Malloc(heap_, 131'072);
  std::memset(block, 0xab, 131'072);
  EXPECT_EQ(Realloc(heap_, block, 130'048), block);
  EXPECT_EQ(Realloc(heap_, block, 65'537), block);
  EXPECT_EQ(Usable(block), 131'072U);
  void* const moved = Realloc(heap_, block, 65'536);
  EXPECT_NE(moved, block);
  EXPECT_FALSE(Large(moved));
  EXPECT_TRUE(AllBytes(moved, 65'536, 0xab));
  EXPECT_EQ(Statistics(heap_).entries, 1U);
  Free(heap_, moved);
}

TEST_F(Family, ReallocMovesASmallBlockThatBecomesLarge) {
  void* const small_block = Malloc(heap_, 1000);
  std::memset(small_block, 0xab, 1000);
  void* const still_small = Realloc(heap_, small_block, 130'048);
  EXPECT_FALSE(Large(still_small));
  void* const large_block = Realloc(heap_, still_small, 130'049);
  EXPECT_TRUE(Large(large_block));
  EXPECT_TRUE(AllBytes(large_block, 1000, 0xab));
  Free(heap_, large_block);
}

TEST_F(Family, ReallocOfNothingAllocatesAndToNothingFrees) {
  void* const block = Realloc(heap_, nullptr, kMiB);
  EXPECT_EQ(Usable(block), kMiB);
  EXPECT_EQ(Realloc(heap_, block, 0), nullptr);
  EXPECT_EQ(Statistics(heap_).entries, 1U);
  void* const small_block = Realloc(heap_, nullptr, 10);
  EXPECT_EQ(Realloc(heap_, small_block, 0), nullptr);
}

TEST_F(Family, ReallocThatFailsLeavesTheBlockAlone) {
  void* const block = Malloc(heap_, kMiB);
  std::memset(block, 0xab, kMiB);
  for (const std::size_t size : {std::size_t{1} << 60, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(Realloc(heap_, block, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_EQ(Usable(block), kMiB);
  EXPECT_TRUE(AllBytes(block, kMiB, 0xab));
  Free(heap_, block);
}

TEST(FamilyWithoutCache, AlignsEveryRequestAndMapsNoMoreThanItUses) {
  Settings settings = WithReserve(0);
  settings.entries = 0;  // every block is fresh
  LargeHeap heap(settings);
  Free(heap, Malloc(heap, kMiB));  // the heap's own table is mapped
  for (std::size_t alignment = 8; alignment <= 64 * kMiB; alignment *= 2) {
    const std::size_t before = MappedPages();
    void* const block = AlignedAlloc(heap, alignment, 3 * kMiB + 1);
    EXPECT_EQ(MappedPages() - before, (3 * kMiB + PageSize()) / PageSize()) << alignment;
    EXPECT_TRUE(Aligned(block, alignment)) << alignment;
    EXPECT_EQ(UsableSize(heap, block), 3 * kMiB + PageSize());
    std::memset(block, 0xab, 3 * kMiB + PageSize());
    Free(heap, block);
    EXPECT_EQ(MappedPages(), before) << alignment;
    for (const std::size_t size : {std::size_t{100}, std::size_t{130'048}}) {
      void* const small_block = AlignedAlloc(heap, alignment, size);
      EXPECT_TRUE(Aligned(small_block, alignment)) << alignment << ' ' << size;
      EXPECT_EQ(heap.UsableSize(small_block), 0U);
      Free(heap, small_block);
    }
  }
}

TEST_F(Family, SkipsBlocksThatAreMisaligned) {
  constexpr std::size_t kAlignment = 2 * kMiB;
  void* const aligned = AlignedAlloc(heap_, kAlignment, 300 * kKiB);
  // Of two neighbouring blocks of 300 KiB at most one is aligned so.
  void* misaligned = Malloc(heap_, 300 * kKiB);
  if (Aligned(misaligned, kAlignment)) misaligned = Malloc(heap_, 300 * kKiB);
  Free(heap_, aligned);
  Free(heap_, misaligned);
  EXPECT_EQ(AlignedAlloc(heap_, kAlignment, 300 * kKiB), aligned) << "though it is the older";
  void* const fresh = AlignedAlloc(heap_, kAlignment, 300 * kKiB);
  EXPECT_NE(fresh, misaligned);
  EXPECT_TRUE(Aligned(fresh, kAlignment));
  EXPECT_EQ(AlignedAlloc(heap_, 4096, 300 * kKiB), misaligned) << "a page's alignment is free";
}

TEST_F(Family, ChecksAlignmentsAsPosixSays) {
  for (const std::size_t size : {std::size_t{100}, kMiB}) {
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{4}, std::size_t{24}, SIZE_MAX}) {
      void* out = &heap_;
      errno = EILSEQ;
      EXPECT_EQ(PosixMemalign(heap_, &out, alignment, size), EINVAL) << alignment;
      EXPECT_EQ(out, &heap_);
      EXPECT_EQ(errno, EILSEQ);
      if (alignment == 4) continue;
      errno = 0;
      EXPECT_EQ(AlignedAlloc(heap_, alignment, size), nullptr) << alignment;
      EXPECT_EQ(errno, EINVAL);
    }
    void* out = nullptr;
    EXPECT_EQ(PosixMemalign(heap_, &out, 64, size), 0);
    EXPECT_TRUE(Aligned(out, 64));
    Free(heap_, out);
  }
  void* out = &heap_;
  errno = EILSEQ;
  EXPECT_EQ(PosixMemalign(heap_, &out, 8, SIZE_MAX - 4096), ENOMEM);
  EXPECT_EQ(out, &heap_);
  EXPECT_EQ(errno, EILSEQ);
}

TEST_F(Family, RoundsOddAlignmentsUpForMemalign) {
  for (const std::size_t size : {std::size_t{100}, kMiB}) {
    void* const block = Memalign(heap_, 5000, size);
    EXPECT_TRUE(Aligned(block, 8192));
    Free(heap_, block);
  }
  errno = 0;
  EXPECT_EQ(Memalign(heap_, SIZE_MAX / 2 + 2, kMiB), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Family, GivesWholePagesToVallocAndPvalloc) {
  for (const std::size_t size : {std::size_t{100}, kMiB + 1}) {
    void* const v = Valloc(heap_, size);
    void* const p = Pvalloc(heap_, size);
    EXPECT_TRUE(Aligned(v, PageSize()));
    EXPECT_TRUE(Aligned(p, PageSize()));
    EXPECT_GE(Usable(p), size / PageSize() * PageSize() + PageSize());
    Free(heap_, v);
    Free(heap_, p);
  }
  errno = 0;
  EXPECT_EQ(Pvalloc(heap_, SIZE_MAX), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST_F(Family, FreesPageAlignedBlocksOfTheSmallAllocator) {
  void* const block = AlignedAlloc(heap_, 4096, 4096);
  ASSERT_FALSE(Large(block));
  Free(heap_, block);
  EXPECT_EQ(Statistics(heap_).entries, 0U);
  EXPECT_EQ(UsableSize(heap_, nullptr), 0U);
}

// small_glibc.cc reads glibc's chunk headers; this is what watches their layout.
TEST(Small, AgreesWithTheCLibraryOnUsableSizes) {
  const auto compare = [] {
    for (std::size_t size = 0; size < 64 * kMiB; size = size * 5 / 4 + 1) {
      for (const std::size_t alignment : {std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
        void* const block = small::Memalign(alignment, size);
        ASSERT_EQ(small::UsableSize(block), malloc_usable_size(block)) << size << ' ' << alignment;
        small::Free(block);
      }
      void* const block = small::Malloc(size);
      ASSERT_EQ(small::UsableSize(block), malloc_usable_size(block)) << size;
      small::Free(block);
    }
  };
  compare();
  // Another thread's chunks come from another arena, which their headers say (NON_MAIN_ARENA).
  std::thread(compare).join();
}

// From here on mincore(2) ends the process.
bool ForbidMincore() {
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
  small::NoteHeap();
  // What the heap had before may be used up first.
  std::vector<void*> earlier(100);
  for (void*& block : earlier) block = AlignedAlloc(heap_, kPage, 200);
  std::array<void*, 100> blocks{};
  for (void*& block : blocks) {
    block = AlignedAlloc(heap_, kPage, 200);
    ASSERT_TRUE(Aligned(block, kPage));
  }
  const pid_t child = fork();
  if (child == 0) {
    if (!ForbidMincore()) _exit(2);
    for (void* const block : blocks) Free(heap_, block);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (void* const block : blocks) Free(heap_, block);
  for (void* const block : earlier) Free(heap_, block);
}

}  // namespace
}  // namespace zerotax::largecache
