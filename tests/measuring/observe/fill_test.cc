#include "observe/fill.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

TEST(Fill, IsOfTheLowestByteAsMemsetTakesIt) {
  EXPECT_EQ(fill_of_register(0), Fill::kZeros);
  EXPECT_EQ(fill_of_register(7), Fill::kOther);
  EXPECT_EQ(fill_of_register(0xffffff80), Fill::kOther) << "a negative char";
  EXPECT_EQ(fill_of_register(0xdeadbeef00000000), Fill::kZeros) << "an int has 32 bits";
}

TEST(Fill, OfAWideCharacterWhoseLowestByteIsZeroIsNotKnown) { EXPECT_EQ(fill_of_register(0x100), Fill::kUnknown); }

TEST(Fill, TheCLibraryKeepsTheValueInItsRegister) { EXPECT_TRUE(memset_keeps_its_value()); }

}  // namespace
}  // namespace zerotax
