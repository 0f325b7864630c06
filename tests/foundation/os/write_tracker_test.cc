#include "os/write_tracker.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "zero_page.h"

namespace zerotax {
namespace {

class WriteTrackerTest : public testing::TestWithParam<const char*> {
 protected:
  ~WriteTrackerTest() override { ::unsetenv("ZEROTAX_WRITE_TRACKING"); }
  static constexpr std::size_t kPages = 64;
  void SetUp() override {
    const bool asynchronous = std::string(GetParam()) == "asynchronous";
    if (!tracker.available()) GTEST_SKIP() << tracker.reason();
    if (asynchronous != (tracker.method() == WriteTracker::Method::kAsynchronous)) GTEST_SKIP() << tracker.name();
    if (asynchronous && pagemap.method() != Pagemap::Method::kScan) GTEST_SKIP() << "no PAGEMAP_SCAN";
    memory = static_cast<char*>(
        ::mmap(nullptr, kPages * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::madvise(memory, kPages * page_bytes(), MADV_NOHUGEPAGE);
  }
  void TearDown() override {
    if (memory != nullptr) ::munmap(memory, kPages * page_bytes());
  }
  [[nodiscard]] AddressRange pages(std::size_t from, std::size_t to) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    return {begin + from * page_bytes(), begin + to * page_bytes()};
  }
  void write(std::size_t page) const { *static_cast<volatile char*>(memory + page * page_bytes()) = 0; }
  [[nodiscard]] std::vector<std::size_t> written() {
    RangeList list;
    tracker.written(pagemap, pages(0, kPages), list);
    std::vector<std::size_t> found;
    for (const AddressRange& range : list) {
      for (std::uintptr_t at = range.begin; at < range.end; at += page_bytes()) {
        found.push_back((at - pages(0, 0).begin) / page_bytes());
      }
    }
    return found;
  }

  /// The variable is set before the tracker below is constructed, because the constructor reads the environment.
  struct Method {
    Method() { ::setenv("ZEROTAX_WRITE_TRACKING", GetParam(), 1); }
  } method;
  Pagemap pagemap{Pagemap::Sharing::kNever};
  WriteTracker tracker;
  char* memory = nullptr;
};

TEST_P(WriteTrackerTest, SeesStoresOfTheSameValueToWarmAndToFreshPages) {
  for (std::size_t page = 0; page < 32; ++page) write(page);  // half of the pages are populated
  tracker.watch(pages(0, kPages), pagemap);
  for (const std::size_t page : {3U, 10U, 40U, 63U}) write(page);
  EXPECT_EQ(written(), (std::vector<std::size_t>{3, 10, 40, 63}));
}

TEST_P(WriteTrackerTest, ForgetsWhatWasWrittenToPagesThatItWatchesAgain) {
  for (std::size_t page = 0; page < 8; ++page) write(page);
  tracker.watch(pages(0, 8), pagemap);
  write(3);
  write(4);
  EXPECT_TRUE(tracker.is_watched(pages(3, 4)));
  EXPECT_TRUE(tracker.is_written(pagemap, pages(3, 4)));
  tracker.watch_again(pages(3, 4), pagemap);
  EXPECT_FALSE(tracker.is_written(pagemap, pages(3, 4)));
  EXPECT_EQ(written(), (std::vector<std::size_t>{4}));
  write(3);
  EXPECT_EQ(written(), (std::vector<std::size_t>{3, 4}));
}

TEST_P(WriteTrackerTest, WatchesManyPagesOneAfterTheOther) {
  for (std::size_t page = 0; page < kPages; ++page) write(page);
  // Without merging, there would be more pieces than the tracker can watch. Pages are watched in both orders.
  for (std::size_t page = kPages / 2; page < kPages; ++page) tracker.watch_again(pages(page, page + 1), pagemap);
  for (std::size_t page = kPages / 2; page > 0; --page) tracker.watch_again(pages(page - 1, page), pagemap);
  EXPECT_TRUE(tracker.is_watched(pages(1, kPages / 2)));
  for (const std::size_t page : {0U, 31U, 32U, 63U}) write(page);
  EXPECT_EQ(written(), (std::vector<std::size_t>{0, 31, 32, 63}));
}

TEST_P(WriteTrackerTest, RemembersWhatWasWrittenWhenMoreIsWatched) {
  for (std::size_t page = 0; page < kPages; ++page) write(page);
  tracker.watch(pages(0, 20), pagemap);
  write(5);
  write(19);
  tracker.watch(pages(20, 40), pagemap);
  write(5);
  write(30);
  tracker.watch_again(pages(6, 7), pagemap);
  write(45);  // this page is not watched
  EXPECT_EQ(written(), (std::vector<std::size_t>{5, 19, 30}));
  tracker.watch_again(pages(5, 6), pagemap);
  EXPECT_EQ(written(), (std::vector<std::size_t>{19, 30}));
  tracker.release(pages(19, 20));
  tracker.watch(pages(19, 20), pagemap);
  EXPECT_EQ(written(), (std::vector<std::size_t>{30}));
}

TEST_P(WriteTrackerTest, DoesNotTakeANewMappingBesideForAWrite) {
  for (std::size_t page = 0; page < kPages; ++page) write(page);
  // Leaves room on both sides, because mappings grow downwards and upwards.
  ::munmap(memory, 8 * page_bytes());
  ::munmap(memory + 56 * page_bytes(), 8 * page_bytes());
  tracker.watch(pages(8, 56), pagemap);
  for (const std::size_t page : {0U, 56U}) {
    ASSERT_NE(::mmap(memory + page * page_bytes(), 8 * page_bytes(), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
  }
  write(9);
  EXPECT_EQ(written(), (std::vector<std::size_t>{9}));
}

TEST_P(WriteTrackerTest, SeesNoReads) {
  if (!has_shared_zero_page()) GTEST_SKIP() << "this kernel has no shared zero page: it populates what is read";
  tracker.watch(pages(0, kPages), pagemap);
  [[maybe_unused]] const char read = *static_cast<volatile char*>(memory + 5 * page_bytes());
  EXPECT_TRUE(written().empty());
}

TEST_P(WriteTrackerTest, DoesNotReportWhatWasReleased) {
  tracker.watch(pages(0, kPages), pagemap);
  tracker.release(pages(10, 20));
  for (const std::size_t page : {9U, 10U, 19U, 20U}) write(page);
  EXPECT_EQ(written(), (std::vector<std::size_t>{9, 20}));
  RangeList watched;
  tracker.watched(pages(0, kPages), watched);
  EXPECT_TRUE(watched.contains(pages(9, 0).begin));
  EXPECT_FALSE(watched.contains(pages(10, 0).begin));
  EXPECT_FALSE(watched.contains(pages(19, 0).begin));
  EXPECT_TRUE(watched.contains(pages(20, 0).begin));
}

TEST_P(WriteTrackerTest, SurvivesMemoryThatIsUnmappedMeanwhile) {
  tracker.watch(pages(0, kPages), pagemap);
  ::munmap(memory + 8 * page_bytes(), 8 * page_bytes());
  write(7);
  write(16);
  EXPECT_EQ(written(), (std::vector<std::size_t>{7, 16}));
  tracker.stop();
  tracker.watch(pages(0, kPages), pagemap);  // a part of the range is unmapped
  write(20);
  EXPECT_EQ(written(), (std::vector<std::size_t>{20}));
  tracker.stop();
  RangeList watched;
  tracker.watched(pages(0, kPages), watched);
  EXPECT_EQ(watched.size(), 0U);
}

TEST_P(WriteTrackerTest, TellsWhatIsWatchedInOrderHoweverOftenPartsAreReleased) {
  tracker.watch(pages(0, kPages), pagemap);
  tracker.release(pages(30, 40));
  tracker.release(pages(10, 20));
  RangeList watched;
  tracker.watched(pages(0, kPages), watched);
  ASSERT_EQ(watched.size(), 3U);
  for (const std::size_t page : {0U, 9U, 20U, 29U, 40U, 63U})
    EXPECT_TRUE(watched.contains(pages(page, 0).begin)) << page;
  for (const std::size_t page : {10U, 19U, 30U, 39U}) EXPECT_FALSE(watched.contains(pages(page, 0).begin)) << page;
  for (const std::size_t page : {9U, 10U, 29U, 39U, 63U}) write(page);
  EXPECT_EQ(written(), (std::vector<std::size_t>{9, 29, 63}));
}

TEST_P(WriteTrackerTest, LeavesNoMarkBehindWhenItStops) {
  // The marker of a protected, unpopulated page looks like a swapped page, even while the page is watched.
  write(1);
  tracker.watch(pages(0, kPages), pagemap);
  RangeList meanwhile;
  ASSERT_TRUE(pagemap.populated(pages(0, kPages), meanwhile));
  EXPECT_EQ(meanwhile.size(), 1U);
  tracker.stop();
  RangeList populated;
  ASSERT_TRUE(pagemap.populated(pages(0, kPages), populated));
  ASSERT_EQ(populated.size(), 1U);
  EXPECT_EQ(populated.begin()->begin, pages(1, 0).begin);
  EXPECT_EQ(populated.begin()->bytes(), page_bytes());
}

TEST_P(WriteTrackerTest, LeavesNoMarkBehindInMemoryThatIsUnmappedInPart) {
  tracker.watch(pages(0, kPages), pagemap);
  ::munmap(memory + 8 * page_bytes(), 8 * page_bytes());
  tracker.stop();
  RangeList populated;
  ASSERT_TRUE(pagemap.populated(pages(0, kPages), populated));
  EXPECT_EQ(populated.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(EachMethod, WriteTrackerTest, testing::Values("asynchronous", "soft-dirty"),
                         [](const auto& method) { return method.param[0] == 'a' ? "asynchronous" : "soft_dirty"; });

}  // namespace
}  // namespace zerotax
