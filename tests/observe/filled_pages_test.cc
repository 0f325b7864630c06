#include "observe/filled_pages.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHuge = 512 * kPage;

TEST(FilledPages, KnowsAPageTheSecondTime) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(10 * kPage + 17, kPage));
  EXPECT_FALSE(pages.add(11 * kPage, kPage));
  EXPECT_TRUE(pages.add(10 * kPage, kPage));
  pages.clear();
  EXPECT_FALSE(pages.add(10 * kPage, kPage));
}

TEST(FilledPages, OfAHugePageKnowsEachPageThough512OfThemTookOneFault) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(3 * kHuge + 5 * kPage, kHuge));
  EXPECT_TRUE(pages.add(3 * kHuge, kPage));
  EXPECT_TRUE(pages.add(4 * kHuge - kPage, kPage));
  EXPECT_FALSE(pages.add(4 * kHuge, kPage));
  EXPECT_FALSE(pages.add(3 * kHuge - kPage, kPage));
}

TEST(FilledPages, OfPagesThatAreNotAWholeTableCrossFromOneToTheNext) {
  FilledPages pages;
  EXPECT_FALSE(pages.add(kHuge - 4 * kPage, 4 * kPage));
  EXPECT_FALSE(pages.add(kHuge, 4 * kPage));
  EXPECT_TRUE(pages.add(kHuge + 3 * kPage, kPage));
}

}  // namespace
}  // namespace zerotax
