#include "observe/filled_pages.h"

#include <gtest/gtest.h>

#include "os/page.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kHuge = 512 * kPageBytes;

TEST(FilledPages, KnowsAPageTheSecondTime) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(10 * kPageBytes + 17, kPageBytes));
  EXPECT_FALSE(pages.add(11 * kPageBytes, kPageBytes));
  EXPECT_TRUE(pages.add(10 * kPageBytes, kPageBytes));
  pages.clear();
  EXPECT_FALSE(pages.add(10 * kPageBytes, kPageBytes));
}

TEST(FilledPages, OfAHugePageKnowsEachPageThough512OfThemTookOneFault) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(3 * kHuge + 5 * kPageBytes, kHuge));
  EXPECT_TRUE(pages.add(3 * kHuge, kPageBytes));
  EXPECT_TRUE(pages.add(4 * kHuge - kPageBytes, kPageBytes));
  EXPECT_FALSE(pages.add(4 * kHuge, kPageBytes));
  EXPECT_FALSE(pages.add(3 * kHuge - kPageBytes, kPageBytes));
}

TEST(FilledPages, OfPagesThatAreNotAWholeTableCrossFromOneToTheNext) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(kHuge - 4 * kPageBytes, 4 * kPageBytes));
  EXPECT_FALSE(pages.add(kHuge, 4 * kPageBytes));
  EXPECT_TRUE(pages.add(kHuge + 3 * kPageBytes, kPageBytes));
}

}  // namespace
}  // namespace zerotax
