#include "meter/page_account.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "meter/meter.h"
#include "zero_page.h"

namespace zerotax {
namespace {

const auto kPage = static_cast<std::int64_t>(page_bytes());

AddressRange pages_at(const RangeList& list) { return list.size() == 0 ? AddressRange{} : *list.begin(); }

/// A fixture with four unwritten pages, and an account of them.
class PageAccountTest : public testing::Test {
 protected:
  PageAccountTest() : samples(std::make_unique<SampleBlock>()) {
    memory = static_cast<unsigned char*>(
        ::mmap(nullptr, 4 * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    clear_operation(op);
    // From the second operation on, the pages of the account's lists and of the stack are populated.
    for (int i = 0; i < 3; ++i) {
      account.begin_operation(op);
      account.end_step(true);
      account.end_operation();
    }
    account.begin_operation(op);
  }
  ~PageAccountTest() override { ::munmap(memory, 4 * page_bytes()); }

  void SetUp() override {
    if (pagemap.method() == Pagemap::Method::kNone) GTEST_SKIP() << pagemap.reason();
  }

  void write(std::size_t pages) {
    for (std::size_t page = 0; page < pages; ++page) memory[page * page_bytes()] = 1;
  }
  /// Purges pages as an allocator would in a call, and reports the purge to the account.
  void purge(std::size_t pages) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const SystemCall call{SYS_madvise,
                          {static_cast<long>(begin), static_cast<long>(pages * page_bytes()), MADV_DONTNEED}};
    account.before_call(call, {begin, begin + pages * page_bytes()});
    ::madvise(memory, pages * page_bytes(), MADV_DONTNEED);
    account.after_call(false, {});
  }
  void end() {
    account.end_step(true);
    account.end_operation();
  }

  std::unique_ptr<SampleBlock> samples;
  Pagemap pagemap;
  PageAccount account{pagemap, *samples};
  OpSample op{};
  unsigned char* memory = nullptr;
};

TEST_F(PageAccountTest, WhatIsWrittenTheFirstTimeIsKernelZeroedAndNoRefill) {
  write(4);
  end();
  EXPECT_EQ(op.kernel_zeroed_bytes, 4 * kPage);
  EXPECT_EQ(op.refilled_bytes, 0);
  EXPECT_EQ(op.returned_bytes, 0);
}

TEST_F(PageAccountTest, WhatWasReturnedAndIsWrittenAgainIsRefilled) {
  write(4);
  account.end_step(true);
  purge(3);
  account.end_step(true);
  write(4);
  end();
  EXPECT_EQ(op.kernel_zeroed_bytes, 7 * kPage);
  EXPECT_EQ(op.refilled_bytes, 3 * kPage);
  EXPECT_EQ(op.returned_bytes, 3 * kPage);
  EXPECT_EQ(op.returned_by_madvise_bytes, 3 * kPage);
  EXPECT_EQ(op.returned_by_munmap_bytes, 0);
}

TEST_F(PageAccountTest, WhatComesAndGoesWithinOneStepIsCountedEachTime) {
  for (int i = 0; i < 3; ++i) {
    write(2);
    purge(2);
  }
  write(2);
  end();
  EXPECT_EQ(op.kernel_zeroed_bytes, 8 * kPage);
  EXPECT_EQ(op.returned_bytes, 6 * kPage);
  EXPECT_EQ(op.returned_by_madvise_bytes, 6 * kPage);
  EXPECT_EQ(op.refilled_bytes, 6 * kPage);
}

TEST_F(PageAccountTest, ACallThatFailsReturnsNothing) {
  write(4);
  account.end_step(true);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  account.before_call({SYS_munmap, {static_cast<long>(begin), 1}}, {begin, begin + page_bytes()});
  account.after_call(true, {});
  end();
  EXPECT_EQ(op.returned_bytes, 0);
  EXPECT_EQ(op.returned_by_munmap_bytes, 0);
}

TEST_F(PageAccountTest, WhatNobodyFollowedIsNotKnown) {
  write(1);
  account.end_step(false);
  account.end_operation();
  EXPECT_EQ(op.kernel_zeroed_bytes, kNotMeasured);
  EXPECT_NE(samples->na_unseen_pages[0], '\0');
}

TEST_F(PageAccountTest, PagesOfAFileAreNotZeroed) {
  char path[] = "/var/tmp/zerotax-page-account-XXXXXX";
  const int file = ::mkstemp(&path[0]);
  ASSERT_GE(file, 0);
  ::unlink(&path[0]);
  for (std::int64_t page = 0; page < 4; ++page) ASSERT_EQ(::pwrite(file, "x", 1, page * kPage), 1);
  ASSERT_EQ(::ftruncate(file, 4 * kPage), 0);
  ASSERT_NE(::mmap(memory, 4 * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0), MAP_FAILED);
  ::close(file);
  for (std::size_t page = 0; page < 4; ++page)
    static_cast<void>(const_cast<volatile unsigned char*>(memory)[page * page_bytes()]);
  write(2);  // copies
  end();
  EXPECT_EQ(op.kernel_zeroed_bytes, 0);
  EXPECT_EQ(op.returned_bytes, 0);
}

TEST_F(PageAccountTest, OfSharedMemoryNobodyKnowsWhenItWasZeroed) {
  ASSERT_NE(::mmap(memory, 4 * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  write(2);
  end();
  EXPECT_EQ(op.kernel_zeroed_bytes, kNotMeasured);
  EXPECT_NE(std::string(&samples->na_unseen_pages[0]).find("shared memory"), std::string::npos);
}

TEST_F(PageAccountTest, TheZeroPageIsMappedByReadingAndByNothingElse) {
  if (!pagemap.knows_zero_page() || !has_shared_zero_page()) GTEST_SKIP() << "the zero page was not recognized";
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  static_cast<void>(*static_cast<volatile unsigned char*>(memory + 2 * page_bytes()));
  write(1);
  RangeList found;
  ASSERT_TRUE(pagemap.zero_pages({begin, begin + 4 * page_bytes()}, found));
  EXPECT_EQ(bytes_of(found), kPage);
  EXPECT_EQ(pages_at(found).begin, begin + 2 * page_bytes());
}

TEST(BytesBeyond, AreThoseOfOneThatAreNotInTheOther) {
  RangeList one;
  RangeList other;
  one.add({0x1000, 0x5000});
  one.add({0x8000, 0x9000});
  other.add({0x0000, 0x2000});
  other.add({0x3000, 0x4000});
  other.add({0x4800, 0x8800});
  EXPECT_EQ(bytes_beyond(one, other), 0x1000 + 0x800 + 0x800);
  EXPECT_EQ(bytes_beyond(other, one), 0x1000 + 0x3000);
  RangeList none;
  EXPECT_EQ(bytes_beyond(one, none), bytes_of(one));
  EXPECT_EQ(bytes_beyond(none, one), 0);
}

}  // namespace
}  // namespace zerotax
