// The largest and smallest requests that a call can express, under each policy. A call either fails with the right
// errno and changes nothing, or returns a block of the requested alignment and size.
#include <gtest/gtest.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "largecache/family.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kMost = PTRDIFF_MAX;
constexpr std::size_t kHighest = kMost + 1;

class Extremes : public testing::TestWithParam<const Policy*> {
 protected:
  ~Extremes() override { heap_.decay(true); }

  // Returns the smallest request that is large.
  std::size_t least_large() { return settings_of(GetParam()->name).threshold + 1; }

  // Sizes that no allocation can have.
  static std::vector<std::size_t> too_much() {
    std::vector<std::size_t> sizes{SIZE_MAX, SIZE_MAX - 1, kHighest + 1, kHighest, std::size_t{1} << 48};
    // Sizes around the last page, slice, witness and segment below PTRDIFF_MAX. Rounding or adding to them must not
    // wrap.
    for (const std::size_t below : {std::size_t{0}, kPage, 2 * kPage, 3 * kPage, 4 * kPage, 16 * kKiB, 4 * kMiB}) {
      for (const std::size_t more : {std::size_t{0}, std::size_t{1}, kPage - 1}) sizes.push_back(kMost - below - more);
    }
    for (const std::size_t below : {kPage - 1, kPage, 16 * kKiB, 4 * kMiB}) sizes.push_back(SIZE_MAX - below);
    return sizes;
  }

  // Expects either a block of the promised alignment and size, or nullptr and ENOMEM. Frees the block.
  void expect_block_or_no_memory(void* block, int error, std::size_t alignment, std::size_t size) {
    if (block == nullptr) {
      EXPECT_EQ(error, ENOMEM) << alignment << ' ' << size;
      return;
    }
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) & (alignment - 1), 0U) << alignment << ' ' << size;
    EXPECT_GE(usable_size(heap_, block), size) << alignment;
    if (size > 0) {
      static_cast<volatile char*>(block)[0] = 1;
      static_cast<volatile char*>(block)[size - 1] = 1;
    }
    free(heap_, block);
  }

  LargeHeap heap_{settings_of(GetParam()->name)};
};

TEST_P(Extremes, SizesThatCannotBeAreRefusedByAllThatAllocate) {
  for (const std::size_t size : too_much()) {
    const auto refused = [&](void* block) {
      EXPECT_EQ(block, nullptr) << size;
      EXPECT_EQ(errno, ENOMEM) << size;
      errno = 0;
    };
    errno = 0;
    refused(malloc(heap_, size));
    refused(calloc(heap_, 1, size));
    refused(calloc(heap_, size, 1));
    refused(realloc(heap_, nullptr, size));
    refused(reallocarray(heap_, nullptr, 1, size));
    refused(valloc(heap_, size));
    refused(pvalloc(heap_, size));
    for (const std::size_t alignment : {std::size_t{1}, std::size_t{4096}, 2 * kMiB, 4 * kMiB, 8 * kMiB, kHighest}) {
      refused(memalign(heap_, alignment, size));
      refused(aligned_alloc(heap_, alignment, size));
      if (alignment == 1) continue;
      void* out = &heap_;
      EXPECT_EQ(posix_memalign(heap_, &out, alignment, size), ENOMEM) << size;
      EXPECT_EQ(out, &heap_);
      EXPECT_EQ(errno, 0) << "posix_memalign does not change errno";
    }
  }
  const auto now = statistics_of(heap_);
  EXPECT_EQ(now.misses, 0U);
  EXPECT_EQ(now.in_use_bytes, 0U);
}

TEST_P(Extremes, ProductsThatOverflowAreRefused) {
  void* const block = malloc(heap_, least_large());
  for (const auto& [count, size] : {std::pair{SIZE_MAX, SIZE_MAX},
                                    {SIZE_MAX, std::size_t{2}},
                                    {kHighest, std::size_t{2}},
                                    {std::size_t{2}, kHighest},
                                    {std::size_t{1} << 32, std::size_t{1} << 32},
                                    {(std::size_t{1} << 32) + 1, std::size_t{1} << 32},
                                    {SIZE_MAX / 3 + 1, std::size_t{3}}}) {
    errno = 0;
    EXPECT_EQ(calloc(heap_, count, size), nullptr) << count << " * " << size;
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(reallocarray(heap_, block, count, size), nullptr) << count << " * " << size;
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_GE(usable_size(heap_, block), least_large());
  free(heap_, block);
}

TEST_P(Extremes, ReallocThatIsRefusedHasChangedNothing) {
  char* const block = static_cast<char*>(malloc(heap_, least_large()));
  const std::size_t usable = usable_size(heap_, block);
  std::memset(block, 0xab, usable);
  char* const small_block = static_cast<char*>(malloc(heap_, 100));
  std::memset(small_block, 0xcd, 100);
  for (const std::size_t size : too_much()) {
    errno = 0;
    EXPECT_EQ(realloc(heap_, block, size), nullptr) << size;
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(realloc(heap_, small_block, size), nullptr) << size;
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_EQ(usable_size(heap_, block), usable);
  EXPECT_TRUE(all_bytes(block, usable, 0xab));
  EXPECT_TRUE(all_bytes(small_block, 100, 0xcd));
  free(heap_, block);
  free(heap_, small_block);
}

TEST_P(Extremes, AlignmentsArePowersOfTwoOrRefused) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, least_large()}) {
    for (const std::size_t alignment :
         {std::size_t{0}, std::size_t{3}, std::size_t{4097}, 3 * kMiB, kHighest - 1, kHighest + 1, SIZE_MAX}) {
      errno = 0;
      EXPECT_EQ(aligned_alloc(heap_, alignment, size), nullptr) << alignment;
      EXPECT_EQ(errno, EINVAL) << alignment;
      void* out = &heap_;
      errno = EILSEQ;
      EXPECT_EQ(posix_memalign(heap_, &out, alignment, size), EINVAL) << alignment;
      EXPECT_EQ(out, &heap_);
      EXPECT_EQ(errno, EILSEQ);
    }
    for (const std::size_t alignment : {kHighest + 1, SIZE_MAX}) {
      errno = 0;
      EXPECT_EQ(memalign(heap_, alignment, size), nullptr) << alignment;
      EXPECT_EQ(errno, EINVAL);
    }
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{4097}, kMiB + 1, 3 * kMiB}) {
      errno = 0;
      void* const block = memalign(heap_, alignment, size);
      ASSERT_NE(block, nullptr) << alignment;
      expect_block_or_no_memory(block, errno, std::bit_ceil(alignment), size);
    }
  }
}

// A sanitizer's allocator, which serves small requests, ends the process at some of these alignments.
TEST_P(Extremes, AnyPowerOfTwoIsServedOrThereIsNoMemory) {
  std::vector<std::size_t> sizes{least_large(), least_large() + 123'456};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kPage, kPage + 1, kMiB}) sizes.push_back(size);
#endif
  for (const std::size_t size : sizes) {
    for (std::size_t alignment = 1; alignment != 0; alignment *= 2) {
      for (int round = 0; round < 2; ++round) {  // only the first block is always fresh; later blocks may come from the
                                                 // cache
        errno = 0;
        void* const block = aligned_alloc(heap_, alignment, size);
        expect_block_or_no_memory(block, errno, alignment, size);
        EXPECT_TRUE(block != nullptr || alignment > 64 * kMiB) << alignment << ' ' << size;
        EXPECT_TRUE(block == nullptr || alignment < kHighest) << size;
      }
    }
  }
  EXPECT_EQ(statistics_of(heap_).in_use_bytes, 0U);
}

TEST_P(Extremes, NoBytesAreABlockOfTheirOwnOrFreed) {
  for (void* const block : {malloc(heap_, 0), calloc(heap_, 0, SIZE_MAX), calloc(heap_, SIZE_MAX, 0),
                            realloc(heap_, nullptr, 0), reallocarray(heap_, nullptr, SIZE_MAX, 0), valloc(heap_, 0),
                            pvalloc(heap_, 0), memalign(heap_, 4 * kMiB, 0), memalign(heap_, 8 * kMiB, 0)}) {
    ASSERT_NE(block, nullptr);
    free(heap_, block);
  }
  for (const std::size_t size : {std::size_t{100}, least_large()}) {
    EXPECT_EQ(realloc(heap_, malloc(heap_, size), 0), nullptr);
    EXPECT_EQ(reallocarray(heap_, malloc(heap_, size), SIZE_MAX, 0), nullptr);
  }
  EXPECT_EQ(statistics_of(heap_).in_use_bytes, 0U);
}

TEST_P(Extremes, ReallocAroundWhatIsLargeKeepsTheBytes) {
  const std::size_t large = least_large();
  auto* block = static_cast<char*>(malloc(heap_, 1));
  *block = 0x5a;
  for (const std::size_t size : {large - 1, large, large - 1, large + 1, 2 * large, 2 * large - 1, large / 2, large * 3,
                                 large * 3 / 2, large, std::size_t{1}, large * 5, large * 2 + 1, large - 1}) {
    block = static_cast<char*>(realloc(heap_, block, size));
    ASSERT_NE(block, nullptr);
    EXPECT_GE(usable_size(heap_, block), size);
    EXPECT_EQ(*block, 0x5a);
    block[size - 1] = 0x5a;
  }
  free(heap_, block);
  EXPECT_EQ(statistics_of(heap_).in_use_bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Extremes, testing::ValuesIn(all_policies()), [](const auto& all) {
  std::string name = all.param->name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(MapPages, DoesNotTakeASumThatWrapsForASmallOne) {
  EXPECT_EQ(map_pages(kHighest + 2 * kPage, kHighest), 0U);
  EXPECT_EQ(map_pages(SIZE_MAX - kPage + 1, 4 * kMiB), 0U);
}

}  // namespace
}  // namespace zerotax::largecache
