#include "os/page.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>

namespace zerotax {
namespace {

TEST(Page, HasTheBytesThatTheSystemSays) {
  EXPECT_EQ(page_bytes(), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(page_bytes(), static_cast<std::size_t>(::getpagesize()));
  EXPECT_TRUE(std::has_single_bit(page_bytes()));
  EXPECT_GE(page_bytes(), kLeastPageBytes);
  EXPECT_LE(page_bytes(), kMostPageBytes);
}

TEST(Page, IsWhatTheKernelMaps) {
  void* memory = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<volatile char*>(memory);
  bytes[page_bytes() - 1] = 1;
  EXPECT_EQ(range_of(memory, 1).pages().begin, range_of(memory, 1).begin);
  EXPECT_EQ(range_of(memory, 1).pages().bytes(), page_bytes());
  ::munmap(memory, 1);
}

TEST(Page, AddressesAreRoundedToWholeOnes) {
  const std::size_t page = page_bytes();
  EXPECT_EQ(page_floor(0), 0U);
  EXPECT_EQ(page_floor(page - 1), 0U);
  EXPECT_EQ(page_floor(page), page);
  EXPECT_EQ(page_ceiling(0), 0U);
  EXPECT_EQ(page_ceiling(1), page);
  EXPECT_EQ(page_ceiling(page), page);
  EXPECT_EQ(page_ceiling(page + 1), 2 * page);
  EXPECT_EQ((AddressRange{page - 1, page + 1}.pages().bytes()), 2 * page);
}

}  // namespace
}  // namespace zerotax
