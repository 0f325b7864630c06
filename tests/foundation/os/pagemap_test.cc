#include "os/pagemap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "os/kernel_version.h"
#include "zero_page.h"

namespace zerotax {
namespace {

/// Anonymous memory of a number of pages, without huge pages.
class Memory {
 public:
  explicit Memory(std::size_t pages) : bytes_(pages * page_bytes()) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Memory() { ::munmap(memory_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  volatile char& page(std::size_t i) { return static_cast<volatile char*>(memory_)[i * page_bytes()]; }
  [[nodiscard]] AddressRange range() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_);
    return {begin, begin + bytes_};
  }
  /// Returns the page numbers, within this memory, of a list's ranges.
  [[nodiscard]] std::vector<std::size_t> pages_in(const RangeList& list) const {
    std::vector<std::size_t> pages;
    for (const AddressRange& found : list) {
      const AddressRange own = found.intersect(range());
      for (std::uintptr_t at = own.begin; at < own.end; at += page_bytes())
        pages.push_back((at - range().begin) / page_bytes());
    }
    return pages;
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

class PagemapBy : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ::setenv("ZEROTAX_PAGEMAP", GetParam(), 1);
    if (std::strcmp(GetParam(), "scan") == 0 && Pagemap().method() != Pagemap::Method::kScan) {
      GTEST_SKIP() << "this kernel has no PAGEMAP_SCAN (needs Linux 6.7 or later)";
    }
  }
  void TearDown() override { ::unsetenv("ZEROTAX_PAGEMAP"); }
};

TEST_P(PagemapBy, FindsExactlyThePagesThatWereWritten) {
  Memory memory(1000);
  const std::vector<std::size_t> written{0, 1, 2, 17, 500, 998, 999};
  for (const std::size_t page : written) memory.page(page) = 1;
  const Pagemap pagemap;
  RangeList found;
  ASSERT_TRUE(pagemap.populated(memory.range(), found));
  EXPECT_EQ(memory.pages_in(found), written);
}

TEST_P(PagemapBy, GoesOnWhereTheRegionBufferEnds) {
  // Every other page is populated, so there are far more regions than one call can return.
  Memory memory(4000);
  std::vector<std::size_t> written;
  for (std::size_t page = 0; page < 4000; page += 2) {
    memory.page(page) = 1;
    written.push_back(page);
  }
  const Pagemap pagemap;
  RangeList found;
  ASSERT_TRUE(pagemap.populated(memory.range(), found));
  EXPECT_EQ(memory.pages_in(found), written);
}

TEST_P(PagemapBy, DoesNotTakeTheZeroPageForAPopulatedOne) {
  if (std::strcmp(GetParam(), "read") == 0 && ::geteuid() != 0) {
    GTEST_SKIP() << "only root sees page frame numbers";
  }
  Memory memory(4);
  [[maybe_unused]] const char read = memory.page(1);
  memory.page(2) = 1;
  const Pagemap pagemap;
  RangeList found;
  ASSERT_TRUE(pagemap.populated(memory.range(), found));
  std::vector<std::size_t> expected{2};
  // A kernel without a shared zero page populates each page that is read.
  if (!has_shared_zero_page()) expected = {1, 2};
  EXPECT_EQ(memory.pages_in(found), expected);
  EXPECT_TRUE(pagemap.knows_zero_page());
}

TEST_P(PagemapBy, ForgetsPurgedPages) {
  Memory memory(4);
  for (std::size_t page = 0; page < 4; ++page) memory.page(page) = 1;
  ::madvise(const_cast<char*>(&memory.page(1)), 2 * page_bytes(), MADV_DONTNEED);
  const Pagemap pagemap;
  RangeList found;
  ASSERT_TRUE(pagemap.populated(memory.range(), found));
  EXPECT_EQ(memory.pages_in(found), (std::vector<std::size_t>{0, 3}));
}

TEST_P(PagemapBy, CountsAPageThatIsNotPresentButHasAnEntry) {
  // Tests the entry of a swapped page even without swap: the marker of a page that was write-protected before its first
  // write has the same bits.
  Memory memory(4);
  memory.page(0) = 1;
  const UniqueFd watcher(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1)));
  uffdio_api api{UFFD_API, (1 << 13) | (1 << 15), 0};  // WP_UNPOPULATED, WP_ASYNC
  const auto page = reinterpret_cast<std::uint64_t>(&memory.page(2));
  uffdio_register registration{{page, page_bytes()}, UFFDIO_REGISTER_MODE_WP, 0};
  uffdio_writeprotect protection{{page, page_bytes()}, UFFDIO_WRITEPROTECT_MODE_WP};
  if (::ioctl(watcher.get(), UFFDIO_API, &api) != 0 || ::ioctl(watcher.get(), UFFDIO_REGISTER, &registration) != 0 ||
      ::ioctl(watcher.get(), UFFDIO_WRITEPROTECT, &protection) != 0) {
    GTEST_SKIP() << "no asynchronous write protection here (Linux 6.7)";
  }
  const Pagemap pagemap;
  RangeList found;
  ASSERT_TRUE(pagemap.populated(memory.range(), found));
  EXPECT_EQ(memory.pages_in(found), (std::vector<std::size_t>{0, 2}));
}

TEST_P(PagemapBy, CountsNoGuardPage) {
  constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL of Linux 6.13; the pagemap shows guard pages since 6.15
  Memory memory(4);
  memory.page(0) = 1;
  memory.page(2) = 1;
  if (!kernel_is_at_least(6, 15) || ::madvise(const_cast<char*>(&memory.page(2)), page_bytes(), kGuardInstall) != 0) {
    GTEST_SKIP() << "this kernel does not show guard pages (Linux 6.15)";
  }
  const Pagemap pagemap;
  RangeList found;
  ASSERT_TRUE(pagemap.populated(memory.range(), found));
  EXPECT_EQ(memory.pages_in(found), (std::vector<std::size_t>{0}));
}

INSTANTIATE_TEST_SUITE_P(EachMethod, PagemapBy, testing::Values("scan", "read"),
                         [](const auto& method) { return std::string(method.param); });

TEST(Pagemap, SaysWhyThereIsNone) {
  ::setenv("ZEROTAX_PAGEMAP", "none", 1);
  const Pagemap pagemap;
  ::unsetenv("ZEROTAX_PAGEMAP");
  EXPECT_EQ(pagemap.method(), Pagemap::Method::kNone);
  EXPECT_STRNE(pagemap.reason(), "");
  RangeList found;
  EXPECT_FALSE(pagemap.populated({0, page_bytes()}, found));
}

TEST(RangeList, JoinsNeighboursAndFindsAddresses) {
  RangeList list;
  list.add({0x1000, 0x2000});
  list.add({0x2000, 0x3000});
  list.add({0x5000, 0x6000});
  EXPECT_EQ(list.size(), 2U);
  EXPECT_FALSE(list.contains(0xfff));
  EXPECT_TRUE(list.contains(0x1000));
  EXPECT_TRUE(list.contains(0x2fff));
  EXPECT_FALSE(list.contains(0x3000));
  EXPECT_TRUE(list.contains(0x5000));
  EXPECT_FALSE(list.contains(0x6000));
}

}  // namespace
}  // namespace zerotax
