// Pages in special states: swapped out, offered, huge, merged, guarded, and locked.
#include <atomic>
#include <csignal>
#include <thread>

#include "largecache_hard_pages_testing.h"
#include "largecache_hard_testing.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kPagesSize = kMiB;
constexpr std::size_t kHuge = 2 * kMiB;

class Pages : public testing::TestWithParam<Way> {
 protected:
  /// The number of bytes that the first calloc of reuse_of() cleared, by stores of zeros or by purges.
  [[nodiscard]] std::uint64_t zeroed() const { return heap_.after().zeroed_bytes - before_.zeroed_bytes; }
  [[nodiscard]] std::uint64_t purged() const { return heap_.after().purged_bytes - before_.purged_bytes; }
  std::string reuse_of(char* block, std::size_t size) {
    before_ = heap_.counters();
    return heap_.reuse_of(block, size);
  }
  /// Allocates a block of `size` zero bytes that starts at a boundary of a huge page.
  char* huge_aligned(std::size_t size) {
    return static_cast<char*>(heap_.heap().allocate(size, kHuge, Contents::kZero));
  }

  HardHeap heap_{GetParam()};
  struct largecache_statistics before_ {};
};

class SwappedPages : public Pages {
 public:
  static void SetUpTestSuite() { swap_ = new Swap; }
  static void TearDownTestSuite() {
    delete swap_;
    swap_ = nullptr;
  }

 protected:
  void SetUp() override {
    if (!swap_->why_not().empty()) GTEST_SKIP() << swap_->why_not();
  }

 private:
  static Swap* swap_;
};
Swap* SwappedPages::swap_ = nullptr;

// mincore and the pagemap's bit for present pages call these pages absent, but the pages keep their contents.
TEST_P(SwappedPages, AreCleared) {
  char* const block = heap_.dirty_block(kPagesSize);
  const std::size_t swapped = page_out(block, kPagesSize);
  ASSERT_GT(swapped, 0U) << "the kernel has swapped nothing out";
  EXPECT_EQ(reuse_of(block, kPagesSize), "");
  EXPECT_EQ(heap_.after().altered, 0U);
  if (looks(GetParam())) {
    EXPECT_EQ(zeroed() + purged(), kPagesSize) << "all pages were dirty";
    EXPECT_GT(purged(), 0U) << "swapped pages can be cleared without being read";
  }
}

TEST_P(SwappedPages, AreClearedWhileTheyGoAndWhateverWasOffered) {
  char* const fixed = heap_.dirty_block(kPagesSize);
  heap_.deallocate(fixed);
  std::atomic<bool> stop{false};
  std::thread reclaim([&] {
    while (!stop) madvise(fixed, kPagesSize, kPageOut);
  });
  int wrong = 0;
  for (int round = 0; round < 60; ++round) {
    char* const block = heap_.calloc(kPagesSize);
    if (!is_zero(block, kPagesSize)) ++wrong;
    std::memset(block, 0xab, kPagesSize);
    if (round % 3 == 0) madvise(block, kPagesSize, MADV_FREE);
    if (round % 3 == 1) madvise(block + kPagesSize / 2, kPagesSize / 4, MADV_FREE);
    heap_.deallocate(block);
  }
  stop = true;
  reclaim.join();
  EXPECT_EQ(wrong, 0);
}

// The kernel keeps pages that the program offered and then wrote to again. The kernel may take the other offered pages
// at any time.
TEST_P(SwappedPages, MayBeThoseThatTheProgramHadOffered) {
  char* const block = heap_.dirty_block(kPagesSize);
  ASSERT_EQ(madvise(block, kPagesSize, MADV_FREE), 0);
  for (std::size_t at = 0; at < kPagesSize; at += 2 * kPage) block[at + 17] = 1;
  page_out(block, kPagesSize);
  EXPECT_EQ(reuse_of(block, kPagesSize), "");
}

// The block has more runs of pages than a single scan can return.
TEST_P(Pages, ThatAreEveryOtherOneAreCleared) {
  char* const block = heap_.block_with_past(4 * kMiB);
  for (std::size_t at = 0; at < 4 * kMiB; at += 2 * kPage) block[at] = 1;
  EXPECT_EQ(reuse_of(block, 4 * kMiB), "");
  EXPECT_TRUE(!looks(GetParam()) || zeroed() == 2 * kMiB) << zeroed();
}

TEST_P(Pages, ThatAreHugeAreClearedWhole) {
  char* const block = huge_aligned(4 * kMiB);
  std::memset(block, 0xab, 4 * kMiB);
  if (madvise(block, 4 * kMiB, kCollapse) != 0) GTEST_SKIP() << "MADV_COLLAPSE: " << std::strerror(errno);
  ASSERT_GE(in_smaps(block, "AnonHugePages"), 2048U);
  EXPECT_EQ(reuse_of(block, 4 * kMiB), "");
  EXPECT_EQ(heap_.after().altered, 0U);
}

// A request ends inside a huge page. The rest of the block stays unchanged until a later request covers it.
TEST_P(Pages, ThatAreHugeAreClearedAlsoInPart) {
  char* const block = huge_aligned(4 * kMiB);
  std::memset(block, 0xab, 4 * kMiB);
  if (madvise(block, 4 * kMiB, kCollapse) != 0) GTEST_SKIP() << "MADV_COLLAPSE: " << std::strerror(errno);
  heap_.deallocate(block);
  char* const part = heap_.calloc(3 * kMiB - 3 * kPage);
  ASSERT_EQ(part, block);
  EXPECT_TRUE(is_zero(part, 3 * kMiB - 3 * kPage));
  EXPECT_EQ(reuse_of(part, 4 * kMiB), "");
}

// One byte of the first huge page was written. The second huge page was only read (the huge zero page).
TEST_P(Pages, ThatAreHugeAndHardlyTouchedOrOnlyReadAreCleared) {
  for (const bool write : {true, false}) {
    char* const block = huge_aligned(4 * kMiB);
    // The advice includes the witness, so that block and witness stay one mapping, as on systems where huge pages are
    // always on.
    ASSERT_EQ(madvise(block, 4 * kMiB, MADV_DONTNEED), 0);
    if (madvise(block, 4 * kMiB + witness_size(), MADV_HUGEPAGE) != 0) GTEST_SKIP() << "no huge pages";
    if (write) block[kHuge + 12345] = 1;
    EXPECT_EQ(*static_cast<volatile char*>(block), 0);
    EXPECT_EQ(reuse_of(block, 4 * kMiB), "");
    EXPECT_EQ(heap_.after().altered, 0U);
  }
}

TEST_P(Pages, ThatTheKernelHasMergedAreClearedAndNoLongerShared) {
  const std::string ksm = "/sys/kernel/mm/ksm/";
  const std::string run = line_of(ksm + "run");
  const std::string pace = line_of(ksm + "pages_to_scan");
  char* const block = heap_.dirty_block(kPagesSize);
  if (run.empty() || madvise(block, kPagesSize + witness_size(), MADV_MERGEABLE) != 0) GTEST_SKIP() << "no KSM";
  if (!set(ksm + "pages_to_scan", "20000") || !set(ksm + "run", "1")) GTEST_SKIP() << "KSM needs root";
  // The loop stops at the first merged page, because the kernel continues to merge, and the number of merged pages can
  // fall again.
  int merged = 0;
  for (int trial = 0; trial < 300 && merged == 0; ++trial) {
    usleep(10'000);
    merged = std::atoi(line_of("/proc/self/ksm_merging_pages").c_str());
  }
  EXPECT_GT(merged, 0) << "all its pages are alike, but none was merged";
  EXPECT_EQ(reuse_of(block, kPagesSize), "");
  EXPECT_EQ(heap_.after().altered, 0U);
  set(ksm + "run", run);
  set(ksm + "pages_to_scan", pace);
}

// A guard (since Linux 6.13) is in the page table, not in the mapping. A policy that looks at the pages removes the
// guard. Under the other policies, the allocator or the program writes to the guard, which ends the process. A block
// never contains a wrong byte.
TEST_P(Pages, ThatAreGuardedAreTakenAwayByThoseWhoLook) {
  const int status = status_of_child([this] {
    std::signal(SIGSEGV, SIG_DFL);  // replaces a sanitizer's handler
    char* const block = heap_.dirty_block(kPagesSize);
    if (madvise(block + 50 * kPage, 3 * kPage, 102 /* MADV_GUARD_INSTALL */) != 0) return +kImpossibleHere;
    return heap_.reuse_of(block, kPagesSize).empty() ? +kGood : 1;
  });
  if (status == kImpossibleHere) GTEST_SKIP() << "no MADV_GUARD_INSTALL";
  if (looks(GetParam())) {
    EXPECT_EQ(status, kGood);
  } else {
    EXPECT_TRUE(status == kGood || status == 128 + SIGSEGV) << status;
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // under a sanitizer, mlockall() does nothing
// All pages are locked. The mapping is therefore unchanged, but no page can be returned.
TEST_P(Pages, ThatAreAllLockedAreCleared) {
  const int status = status_of_child([this] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return +kImpossibleHere;
    char* const block = heap_.dirty_block(kPagesSize);
    const auto before = heap_.counters();
    const std::string wrong = heap_.reuse_of(block, kPagesSize);
    if (!wrong.empty()) return 1;
    if (heap_.after().altered != 0) return 2;
    if (heap_.after().purged_bytes != before.purged_bytes) return 3;
    return heap_.after().zeroed_bytes - before.zeroed_bytes == kPagesSize ? +kGood : 4;
  });
  if (status == kImpossibleHere) GTEST_SKIP() << "mlockall needs root, or a limit that permits locking";
  EXPECT_EQ(status, kGood);
}
#endif

INSTANTIATE_TEST_SUITE_P(All, Pages, testing::ValuesIn(kWays), kName);
INSTANTIATE_TEST_SUITE_P(All, SwappedPages, testing::ValuesIn(kWays), kName);

}  // namespace
}  // namespace zerotax::largecache
