// Pages that are not simply there or not: swapped out, offered, huge, merged, guarded, locked.
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
  /// Of the first calloc after the deed: bytes cleared, either way.
  [[nodiscard]] std::uint64_t zeroed() const { return heap_.after().zeroed_bytes - before_.zeroed_bytes; }
  [[nodiscard]] std::uint64_t purged() const { return heap_.after().purged_bytes - before_.purged_bytes; }
  std::string reuse_of(char* block, std::size_t size) {
    before_ = heap_.counters();
    return heap_.reuse_of(block, size);
  }
  /// A dirty block of `size` bytes that starts at a huge page's boundary, and its whole mapping of 2 more.
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

// mincore and "present" both call these pages absent; they hold what was written.
TEST_P(SwappedPages, AreCleared) {
  char* const block = heap_.dirty_block(kPagesSize);
  const std::size_t swapped = page_out(block, kPagesSize);
  ASSERT_GT(swapped, 0U) << "the kernel has swapped nothing out";
  EXPECT_EQ(reuse_of(block, kPagesSize), "");
  EXPECT_EQ(heap_.after().altered, 0U);
  if (looks(GetParam())) {
    EXPECT_EQ(zeroed() + purged(), kPagesSize) << "all pages were dirty";
    EXPECT_GT(purged(), 0U) << "those that are swapped out need not be read to be cleared";
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

// Pages that are offered and then written to again are kept by the kernel; the others may go at any time.
TEST_P(SwappedPages, MayBeThoseThatTheProgramHadOffered) {
  char* const block = heap_.dirty_block(kPagesSize);
  ASSERT_EQ(madvise(block, kPagesSize, MADV_FREE), 0);
  for (std::size_t at = 0; at < kPagesSize; at += 2 * kPage) block[at + 17] = 1;
  page_out(block, kPagesSize);
  EXPECT_EQ(reuse_of(block, kPagesSize), "");
}

// More runs of pages than one answer of the kernel holds.
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

// A request that ends inside a huge page: the rest of the block stays unchanged, and is cleared when it is asked for.
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

// One byte of a huge page was written; another huge page is only read (the huge zero page).
TEST_P(Pages, ThatAreHugeAndHardlyTouchedOrOnlyReadAreCleared) {
  for (const bool write : {true, false}) {
    char* const block = huge_aligned(4 * kMiB);
    // The witness too, so that it stays one mapping: as where huge pages are always on.
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
  // Read once: the number falls again while the kernel sorts its pages once more.
  int merged = 0;
  for (int trial = 0; trial < 300 && merged == 0; ++trial) {
    usleep(10'000);
    merged = std::atoi(line_of("/proc/self/ksm_merging_pages").c_str());
  }
  EXPECT_GT(merged, 0) << "all its pages are alike, and none was merged";
  EXPECT_EQ(reuse_of(block, kPagesSize), "");
  EXPECT_EQ(heap_.after().altered, 0U);
  set(ksm + "run", run);
  set(ksm + "pages_to_scan", pace);
}

// A guard (Linux 6.13) lies in the page table, not in the mapping. A policy that looks at the pages takes it away. The
// others find it as any writer does: the process ends, at the latest when the program writes there. No byte is wrong.
TEST_P(Pages, ThatAreGuardedAreTakenAwayByThoseWhoLook) {
  const int status = status_of_child([this] {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their mlockall() does nothing, and rightly so
// All is locked alike, so the mapping is as it was; nothing can be given back.
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
  if (status == kImpossibleHere) GTEST_SKIP() << "mlockall needs root or a limit";
  EXPECT_EQ(status, kGood);
}
#endif

INSTANTIATE_TEST_SUITE_P(All, Pages, testing::ValuesIn(kWays), kName);
INSTANTIATE_TEST_SUITE_P(All, SwappedPages, testing::ValuesIn(kWays), kName);

}  // namespace
}  // namespace zerotax::largecache
