#include "meter/contents.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace zerotax {
namespace {

class Pages {
 public:
  Pages(std::size_t pages, int flags) : bytes_(pages * page_bytes()) {
    memory_ =
        static_cast<unsigned char*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0));
    ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Pages() { ::munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  unsigned char* operator()(std::size_t offset) const { return memory_ + offset; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] AddressRange range(std::size_t from, std::size_t to) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_);
    return {begin + from, begin + to};
  }

 private:
  std::size_t bytes_;
  unsigned char* memory_;
};

TEST(Contents, FindsTheFirstNonZeroByteWhereverItIs) {
  std::vector<unsigned char> bytes(2000, 0);
  EXPECT_EQ(first_nonzero(bytes.data(), bytes.size()), 2000U);
  for (const std::size_t at : {0U, 1U, 255U, 256U, 257U, 1023U, 1999U}) {
    bytes[at] = 1;
    EXPECT_EQ(first_nonzero(bytes.data(), bytes.size()), at);
    EXPECT_EQ(first_nonzero(bytes.data(), at), at) << "bytes beyond the end do not count";
    bytes[at] = 0;
  }
  EXPECT_TRUE(all_zero(bytes.data(), 0));
}

TEST(Contents, CountsTheBytesOfARangeInDirtyPages) {
  const Pages pages(4, MAP_PRIVATE);
  *pages(page_bytes() + 10) = 1;       // page 1
  *pages(3 * page_bytes() + 100) = 1;  // page 3, after the end of the range below
  *pages(2 * page_bytes()) = 0;        // page 2 is populated and zero
  const Pagemap pagemap;
  if (pagemap.method() == Pagemap::Method::kNone) GTEST_SKIP() << pagemap.reason();
  RangeList populated;
  ASSERT_TRUE(pagemap.populated(pages.range(0, pages.bytes()), populated));
  EXPECT_EQ(dirty_bytes(pages.range(0, pages.bytes()), populated), 2 * page_bytes());
  EXPECT_EQ(dirty_bytes(pages.range(100, 3 * page_bytes() + 50), populated), page_bytes());
  EXPECT_EQ(dirty_bytes(pages.range(page_bytes() + 11, pages.bytes()), populated), page_bytes());
  RangeList dirty;
  find_dirty_pages(pages.range(0, pages.bytes()), populated, dirty);
  EXPECT_TRUE(dirty.contains(pages.range(page_bytes(), 0).begin));
  EXPECT_FALSE(dirty.contains(pages.range(2 * page_bytes(), 0).begin));
}

TEST(Contents, ChecksABlockWithoutPopulatingIt) {
  const Pages pages(100, MAP_PRIVATE);
  *pages(50 * page_bytes()) = 0;
  const Pagemap pagemap;
  if (pagemap.method() == Pagemap::Method::kNone) GTEST_SKIP() << pagemap.reason();
  RangeList scratch;
  EXPECT_EQ(check_zero(pages(0), pages.bytes(), pagemap, scratch), pages.bytes());
  RangeList after;
  ASSERT_TRUE(pagemap.populated(pages.range(0, pages.bytes()), after));
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after.begin()->bytes(), page_bytes());
  *pages(50 * page_bytes() + 7) = 3;
  EXPECT_EQ(check_zero(pages(0), pages.bytes(), pagemap, scratch), 50 * page_bytes() + 7);
  EXPECT_EQ(check_zero(pages(60), 50 * page_bytes() - 60, pagemap, scratch), 50 * page_bytes() - 60);
}

TEST(Contents, ReadsEveryByteOfMemoryThatMayHaveContentsUnseen) {
  // A page of a shared mapping can have contents in the page cache without an entry in our page table.
  const Pages pages(16, MAP_SHARED);
  *pages(9 * page_bytes() + 5) = 1;
  ASSERT_EQ(::madvise(pages(0), pages.bytes(), MADV_DONTNEED), 0);
  const Pagemap pagemap;
  RangeList scratch;
  EXPECT_EQ(check_zero(pages(0), pages.bytes(), pagemap, scratch), 9 * page_bytes() + 5);
}

}  // namespace
}  // namespace zerotax
