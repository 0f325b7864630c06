// Fresh pages that the program reads before it writes to them take two faults each. The heap learns whether the program
// reads first. In that case, the heap populates fresh pages at once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "largecache/adaptive/pagemap.h"
#include "largecache/adaptive/read_habit.h"
#include "largecache_testing.h"
#include "zero_page.h"

namespace zerotax::largecache {
namespace {

using What = ReadHabit::What;

/// Pages of a block of 1 MiB.
const std::uint64_t kPages = kMiB / kPage;

// The number of pages of a 256-page block that were written, and the faults that the writing took.
struct Use {
  std::uint64_t written;
  std::uint64_t faults;
  std::uint64_t read = 0;
};

// Reports one use of a block to the habit. Returns false if the habit did not watch the block.
bool give(ReadHabit& habit, const Use& use, std::uint64_t populated = 0) {
  if (habit.is_idle() || habit.next(kMiB) != What::kWatch) return false;
  habit.watch(kMiB, kMiB, populated, 1000);
  habit.end_watch({256, use.written, use.read, 1000 + use.faults});
  return true;
}

bool is_learnt_from(const Use& use, std::uint64_t populated = 0) {
  ReadHabit habit;
  EXPECT_TRUE(give(habit, use, populated));
  return habit.populates();
}

TEST(ReadHabit, IsTwoFaultsAPage) {
  EXPECT_TRUE(is_learnt_from({256, 512}));
  EXPECT_TRUE(is_learnt_from({256, 512 + 16})) << "a few faults have other causes";
  EXPECT_FALSE(is_learnt_from({256, 256})) << "written to at once";
  EXPECT_FALSE(is_learnt_from({256, 512 - 17}));
  EXPECT_FALSE(is_learnt_from({256, 512 + 17})) << "the extra faults may be of other pages";
  EXPECT_FALSE(is_learnt_from({0, 256, 256})) << "read only";
  EXPECT_FALSE(is_learnt_from({128, 256, 128})) << "half only read, half only written to";
  EXPECT_TRUE(is_learnt_from({128, 384, 128})) << "all read, half of them also written to";
  EXPECT_FALSE(is_learnt_from({15, 30})) << "too few to decide";
}

TEST(ReadHabit, IsOfThePagesThatWereNotPopulatedBefore) {
  EXPECT_TRUE(is_learnt_from({200, 200}, 100));
  EXPECT_FALSE(is_learnt_from({200, 400}, 100));
}

TEST(ReadHabit, DoesNotPayWhereMostPagesAreLeftAlone) {
  EXPECT_TRUE(is_learnt_from({64, 128}));
  EXPECT_FALSE(is_learnt_from({63, 126}));
}

TEST(ReadHabit, PaysSoonerWhereItInterruptsOtherProcessors) {
  ReadHabit habit;
  std::thread([&] { EXPECT_EQ(habit.next(kMiB), What::kWatch); }).join();
  EXPECT_TRUE(give(habit, {32, 64}));
  EXPECT_TRUE(habit.populates());
  ReadHabit other;
  std::thread([&] { EXPECT_EQ(other.next(kMiB), What::kWatch); }).join();
  EXPECT_TRUE(give(other, {31, 62}));
  EXPECT_FALSE(other.populates());
}

TEST(ReadHabit, IsForgottenWhenABlockShowsOtherwise) {
  ReadHabit habit;
  give(habit, {256, 512});
  int given = 0;
  while (!give(habit, {256, 256})) ++given;
  EXPECT_EQ(given, 8);
  EXPECT_FALSE(habit.populates());
}

TEST(ReadHabit, IsAskedAboutLessAndLessOften) {
  for (const Use use : {Use{256, 256}, Use{0, 0}, Use{256, 512}}) {
    ReadHabit habit;
    int watched = 0;
    for (int i = 0; i < 4096; ++i) watched += give(habit, use) ? 1 : 0;
    EXPECT_LE(watched, 28) << use.written;
    EXPECT_GE(watched, 16) << use.written;
  }
}

TEST(ReadHabit, IsNotLearntFromABlockWhoseThreadGotAnother) {
  ReadHabit habit;
  ASSERT_EQ(habit.next(kMiB), What::kWatch);
  habit.watch(kMiB, kMiB, 0, 0);
  habit.disturb();
  habit.end_watch({256, 256, 0, 512});
  EXPECT_FALSE(habit.populates());
}

TEST(ReadHabit, IsLearntAlthoughAnotherThreadGotABlock) {
  ReadHabit habit;
  ASSERT_EQ(habit.next(kMiB), What::kWatch);
  habit.watch(kMiB, kMiB, 0, 0);
  std::thread([&] { habit.disturb(); }).join();
  habit.end_watch({256, 256, 0, 512});
  EXPECT_TRUE(habit.populates());
}

TEST(ReadHabit, IsNotLearntFromABlockThatAnotherThreadFrees) {
  ReadHabit habit;
  ASSERT_EQ(habit.next(kMiB), What::kWatch);
  habit.watch(kMiB, kMiB, 0, 0);
  std::thread([&] { habit.end_watch({256, 256, 0, 512}); }).join();
  EXPECT_FALSE(habit.populates());
}

TEST(ReadHabit, DoesNotWaitForABlockThatIsKept) {
  ReadHabit habit;
  ASSERT_EQ(habit.next(kMiB), What::kWatch);
  habit.watch(kMiB, kMiB, 0, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(habit.next(kMiB), What::kNothing);
  EXPECT_EQ(habit.next(kMiB), What::kWatch);
}

TEST(ReadHabit, IsNotForLongBlocks) {
  ReadHabit habit;
  give(habit, {256, 512});
  EXPECT_EQ(habit.next(ReadHabit::kLongest), What::kPopulate);
  EXPECT_EQ(habit.next(ReadHabit::kLongest + kPage), What::kNothing);
}

// Reads and writes in two separate instructions, because the kernel sees a single add as a write. Returns false if a
// byte was not zero.
bool read_then_write(unsigned char* block, std::size_t size) {
  auto* const bytes = static_cast<volatile unsigned char*>(block);
  unsigned sum = 0;
  for (std::size_t at = 0; at < size; at += kPage) {
    const unsigned char found = bytes[at];
    sum += found;
    bytes[at] = 1;
  }
  return sum == 0;
}

class Reads : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!can_look()) GTEST_SKIP() << "the kernel does not report which pages are populated";
    if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer's own memory takes faults, too";
    void* const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (madvise(page, kPage, 23) != 0) GTEST_SKIP() << "the kernel has no MADV_POPULATE_WRITE (before Linux 5.14)";
    if (!has_shared_zero_page()) GTEST_SKIP() << "this kernel has no shared zero page, so a read takes the only fault";
    munmap(page, kPage);
  }

  static Settings uncached() {
    Settings settings = settings_of(GetParam());
    settings.entries = 0;
    return settings;
  }

  unsigned char* calloc(std::size_t size) {
    return static_cast<unsigned char*>(heap_.allocate(size, 1, Contents::kZero));
  }

  // Uses the first `size` bytes of a fresh block, and returns the number of faults that this use took.
  std::uint64_t use_fresh(bool reads, std::size_t size = kMiB) {
    unsigned char* const block = calloc(kMiB);
    const std::uint64_t before = minor_faults();
    if (reads) {
      EXPECT_TRUE(read_then_write(block, size));
    } else {
      std::memset(block, 1, size);
    }
    const std::uint64_t faults = minor_faults() - before;
    heap_.deallocate(block);
    return faults;
  }

  LargeHeap heap_{uncached()};
};

TEST_P(Reads, TakeTwoFaultsAPageUntilThatIsKnown) {
  EXPECT_EQ(use_fresh(true), 2 * kPages);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(use_fresh(true), 0U) << i;
  EXPECT_EQ(use_fresh(true), 2 * kPages) << "a block is watched now and then";
  for (int i = 0; i < 8; ++i) EXPECT_EQ(use_fresh(true), 0U) << i;
}

TEST_P(Reads, BlocksThatAreWrittenToAtOnceStayAsTheyAre) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(use_fresh(false), kPages) << i;
}

TEST_P(Reads, BlocksOfWhichLittleIsUsedStayAsTheyAre) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(use_fresh(true, kMiB / 16), kPages / 8) << i;
}

TEST_P(Reads, BlocksThatAreOnlyReadStayAsTheyAre) {
  for (int i = 0; i < 20; ++i) {
    unsigned char* const block = calloc(kMiB);
    const std::uint64_t before = minor_faults();
    EXPECT_TRUE(is_zero(block, kMiB));
    EXPECT_EQ(minor_faults() - before, kPages);
    heap_.deallocate(block);
  }
}

// The number of faults is the same as for pages that are read first. The heap sees the difference only if it also
// checks the pages that were only read.
TEST_P(Reads, BlocksThatAreOnlyReadHalfStayAsTheyAre) {
  for (int i = 0; i < 20; ++i) {
    unsigned char* const block = calloc(kMiB);
    const std::uint64_t before = minor_faults();
    EXPECT_TRUE(is_zero(block + kMiB / 2, kMiB / 2));
    std::memset(block, 1, kMiB / 2);
    EXPECT_EQ(minor_faults() - before, kPages);
    heap_.deallocate(block);
  }
}

TEST_P(Reads, WhatWasPopulatedIsZero) {
  use_fresh(true);
  unsigned char* const block = calloc(kMiB);
  EXPECT_EQ(resident_pages(block, kMiB), kPages);
  EXPECT_TRUE(is_zero(block, kMiB));
}

TEST_P(Reads, MallocIsNotPopulated) {
  use_fresh(true);
  auto* const block = static_cast<unsigned char*>(heap_.allocate(kMiB, 1, Contents::kAny));
  EXPECT_EQ(resident_pages(block, kMiB), 0U);
}

TEST_P(Reads, TheRestOfACachedBlockIsPopulatedToo) {
  LargeHeap cached(settings_of(GetParam()));
  auto* const block = static_cast<unsigned char*>(cached.allocate(kMiB, 1, Contents::kZero));
  read_then_write(block, kMiB / 2);
  cached.deallocate(block);
  auto* const again = static_cast<unsigned char*>(cached.allocate(kMiB, 1, Contents::kZero));
  EXPECT_EQ(again, block);
  EXPECT_EQ(resident_pages(again, kMiB), kPages);
  EXPECT_TRUE(is_zero(again, kMiB));
}

TEST_P(Reads, NothingIsPopulatedWhenMemoryIsShort) {
  use_fresh(true);
  EXPECT_EQ(use_fresh(true), 0U);
  heap_.decay(true);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(use_fresh(true), 2 * kPages) << i;
}

// A child's fault counter starts at 0. Faults that copy the parent's pages must not be mistaken for reads before
// writes.
TEST_P(Reads, AForkIsNotMistakenForAHabit) {
  unsigned char* const block = calloc(kMiB);
  std::memset(block, 1, kMiB);
  heap_.prepare_fork();
  const pid_t child = fork();
  if (child == 0) {
    heap_.child_after_fork();
    std::memset(block, 2, kMiB);
    heap_.deallocate(block);
    unsigned char* const fresh = calloc(kMiB);
    _exit(resident_pages(fresh, kMiB) == 0 ? 0 : 1);
  }
  heap_.parent_after_fork();
  std::memset(block, 3, kMiB);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  heap_.deallocate(block);
  EXPECT_EQ(resident_pages(calloc(kMiB), kMiB), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Reads, testing::Values("dirty", "adaptive"));

TEST(OtherPolicies, PopulateNothing) {
  Settings settings = settings_of("libmalloc-116");
  settings.entries = 0;
  LargeHeap heap(settings);
  for (int i = 0; i < 20; ++i) {
    auto* const block = static_cast<unsigned char*>(heap.allocate(kMiB, 1, Contents::kZero));
    EXPECT_EQ(resident_pages(block, kMiB), 0U);
    read_then_write(block, kMiB);
    heap.deallocate(block);
  }
}

}  // namespace
}  // namespace zerotax::largecache
