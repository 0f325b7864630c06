#include <gtest/gtest.h>

#include "observe/fault.h"
#include "os/page.h"

namespace zerotax {
namespace {

const std::uint64_t kHuge = 512 * page_bytes();

TEST(FilledPages, KnowsAPageTheSecondTime) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(10 * page_bytes() + 17, page_bytes()));
  EXPECT_FALSE(pages.add(11 * page_bytes(), page_bytes()));
  EXPECT_TRUE(pages.add(10 * page_bytes(), page_bytes()));
  pages.clear();
  EXPECT_FALSE(pages.add(10 * page_bytes(), page_bytes()));
}

TEST(FilledPages, OfAHugePageKnowsEachPageThough512OfThemTookOneFault) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(3 * kHuge + 5 * page_bytes(), kHuge));
  EXPECT_TRUE(pages.add(3 * kHuge, page_bytes()));
  EXPECT_TRUE(pages.add(4 * kHuge - page_bytes(), page_bytes()));
  EXPECT_FALSE(pages.add(4 * kHuge, page_bytes()));
  EXPECT_FALSE(pages.add(3 * kHuge - page_bytes(), page_bytes()));
}

TEST(FilledPages, OfPagesThatAreNotAWholeTableCrossFromOneToTheNext) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(kHuge - 4 * page_bytes(), 4 * page_bytes()));
  EXPECT_FALSE(pages.add(kHuge, 4 * page_bytes()));
  EXPECT_TRUE(pages.add(kHuge + 3 * page_bytes(), page_bytes()));
}

}  // namespace
}  // namespace zerotax
