// Tests that each policy makes the same decisions as its source.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "largecache_testing.h"
#include "zero_page.h"

namespace zerotax::largecache {
namespace {

TEST(Policies, HaveNamesOfTheirOwnAndAreFoundByThem) {
  std::set<std::string> names;
  for (const Policy* const* policy = kPolicies; *policy != nullptr; ++policy) {
    const char* const name = (*policy)->name;
    EXPECT_EQ(find_policy(name), *policy);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"libmalloc-116", "libmalloc-283", "xzone-792", "unmap", "purge", "memset",
                                          "dirty", "adaptive"}));
  EXPECT_EQ(find_policy("libmalloc-117"), nullptr);
}

TEST(Policies, AcceptABestFitOfLessThanTwice) {
  EXPECT_TRUE(is_good_fit(100, 100));
  EXPECT_TRUE(is_good_fit(199, 100));
  EXPECT_FALSE(is_good_fit(200, 100));
  EXPECT_FALSE(is_good_fit(1000, 100));
}

bool caches(const Settings& settings, std::size_t size) { return settings.policy->should_cache(settings, size); }

TEST(Policies, Libmalloc116CachesStrictlyBelow128MiBAndNothingWithoutEntries) {
  Settings settings = settings_of("libmalloc-116");
  EXPECT_TRUE(caches(settings, 134'217'727));
  EXPECT_FALSE(caches(settings, 134'217'728));
  settings.entries = 0;
  EXPECT_FALSE(caches(settings, 4096));
}

TEST(Policies, Libmalloc116OffersOnlyWhatExceedsTheReserve) {
  Settings settings = settings_of("libmalloc-116");
  settings.reserve_limit = 1000;
  const auto at_free = [&](std::size_t reserve, std::size_t size) {
    return settings.policy->at_free(settings, reserve, size);
  };
  EXPECT_EQ(at_free(0, 1000), AtFree::kKeep);
  EXPECT_EQ(at_free(400, 600), AtFree::kKeep);
  EXPECT_EQ(at_free(400, 601), AtFree::kOffer);
  EXPECT_EQ(at_free(1000, 1), AtFree::kOffer);
}

TEST(Policies, Libmalloc283DependsOnMemoryAndCachesTheLimitItself) {
  const Settings small = settings_of("libmalloc-283", 32 * kGiB - 1);
  EXPECT_EQ(small.threshold, 32 * kKiB);
  EXPECT_EQ(small.entries, 16U);
  EXPECT_TRUE(caches(small, 128 * kMiB));
  EXPECT_FALSE(caches(small, 128 * kMiB + kPage));
  const Settings large = settings_of("libmalloc-283", 32 * kGiB);
  EXPECT_EQ(large.threshold, 8 * kMiB);
  EXPECT_EQ(large.entries, 64U);
  EXPECT_TRUE(caches(large, 512 * kMiB));
  EXPECT_FALSE(caches(large, 512 * kMiB + kPage));
}

TEST(Policies, Xzone792CachesBelow4GiB) {
  const Settings settings = settings_of("xzone-792");
  EXPECT_EQ(settings.threshold, 2 * kMiB);
  EXPECT_EQ(settings.entries, 64U);
  EXPECT_TRUE(caches(settings, 4 * kGiB - kPage));
  EXPECT_FALSE(caches(settings, 4 * kGiB));
}

// The result of three steps: write to every page of a block, free the block, allocate a smaller block.
struct Reuse {
  struct largecache_statistics statistics;
  bool zero;
  std::size_t resident;  // number of resident pages of the whole block before the program reads a page
};

Reuse reuse_of(const char* policy) {
  LargeHeap heap(settings_of(policy));
  constexpr std::size_t kWhole = 4 * kMiB;
  constexpr std::size_t kRequest = 3 * kMiB;
  void* const first = heap.allocate(kWhole, 1, Contents::kZero);
  for (std::size_t at = 0; at < kWhole; at += kPage) static_cast<volatile char*>(first)[at + at % 4096] = 1;
  heap.deallocate(first);
  void* const second = heap.allocate(kRequest, 1, Contents::kZero);
  Reuse reuse{};
  reuse.resident = resident_pages(second, second == first ? kWhole : kRequest);
  reuse.zero = all_bytes(second, kRequest, 0);
  reuse.statistics = statistics_of(heap);
  heap.deallocate(second);
  heap.decay(true);
  return reuse;
}

TEST(Policies, DoWithADirtyBlockWhatTheirNamesSay) {
  struct Row {
    const char* policy;
    std::uint64_t hits;
    std::uint64_t zeroed;
    std::size_t resident;
  };
  for (const Row& row :
       {Row{"libmalloc-116", 1, 3 * kMiB, 4 * kMiB / kPage}, Row{"libmalloc-283", 1, 3 * kMiB, 4 * kMiB / kPage},
        Row{"xzone-792", 1, 4 * kMiB, 4 * kMiB / kPage}, Row{"unmap", 0, 0, 0}, Row{"purge", 1, 0, 0},
        Row{"memset", 1, 3 * kMiB, 4 * kMiB / kPage}, Row{"dirty", 1, 3 * kMiB, 4 * kMiB / kPage},
        Row{"adaptive", 1, 3 * kMiB, 4 * kMiB / kPage}}) {
    const Reuse reuse = reuse_of(row.policy);
    EXPECT_TRUE(reuse.zero) << row.policy;
    EXPECT_EQ(reuse.statistics.hits, row.hits) << row.policy;
    EXPECT_EQ(reuse.statistics.zeroed_bytes, row.zeroed) << row.policy;
    EXPECT_EQ(reuse.resident, row.resident) << row.policy;
  }
}

TEST(Policies, DirtyAndAdaptiveZeroWhatWasWrittenAndNothingElse) {
  for (const char* policy : {"dirty", "adaptive"}) {
    LargeHeap heap(settings_of(policy));
    constexpr std::size_t kSize = 4 * kMiB;
    auto* block = static_cast<char*>(heap.allocate(kSize, 1, Contents::kZero));
    for (const std::size_t page : {0, 7, 8, 100, 255}) block[page * kPage + kPage - 1] = 1;
    static_cast<void>(*static_cast<volatile char*>(block + 200 * kPage));
    heap.deallocate(block);
    ASSERT_EQ(heap.allocate(kSize, 1, Contents::kZero), block) << policy;
    EXPECT_EQ(statistics_of(heap).zeroed_bytes, (has_shared_zero_page() ? 5 : 6) * kPage) << policy;
    EXPECT_TRUE(all_bytes(block, kSize, 0)) << policy;
    heap.deallocate(block);
    heap.decay(true);
  }
}

TEST(Policies, KeepNoMoreThanTheirMemoryLimitAllows) {
  Settings settings = settings_of("adaptive");
  settings.memory_limit = 10 * kMiB;
  LargeHeap heap(settings);
  std::vector<void*> blocks;
  blocks.reserve(20);
  for (int i = 0; i < 20; ++i) blocks.push_back(heap.allocate(kMiB, 1, Contents::kAny));
  for (void* block : blocks) heap.deallocate(block);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 10 * kMiB);
  EXPECT_EQ(statistics_of(heap).evictions, 10U);
  EXPECT_TRUE(heap.decay(true));
  EXPECT_EQ(statistics_of(heap).cached_bytes, 0U);
}

TEST(Policies, TogetherWithWhatIsInUseKeepNoMoreThanAQuarterAboveThePeak) {
  LargeHeap heap(settings_of("adaptive"));
  std::vector<void*> blocks;
  blocks.reserve(8);
  for (int i = 0; i < 8; ++i) blocks.push_back(heap.allocate(kMiB, 1, Contents::kAny));
  for (void* block : blocks) heap.deallocate(block);
  EXPECT_EQ(statistics_of(heap).peak_in_use_bytes, 8 * kMiB);
  EXPECT_EQ(statistics_of(heap).cached_bytes, 8 * kMiB);
  // With 8 MiB in use and a peak of 9 MiB, 3 MiB may stay cached.
  void* const large = heap.allocate(8 * kMiB, 1, Contents::kAny);
  void* const small = heap.allocate(kMiB, 1, Contents::kAny);
  heap.deallocate(small);
  const auto statistics = statistics_of(heap);
  EXPECT_LE(statistics.cached_bytes + statistics.in_use_bytes, statistics.peak_in_use_bytes / 4 * 5);
  heap.deallocate(large);
  heap.decay(true);
}

}  // namespace
}  // namespace zerotax::largecache
