#include "observe/address_space.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

TEST(AddressSpace, FindsWhatLiesAtAnAddress) {
  AddressSpace space;
  space.map({0x1000, 0x3000, 0, false, false, "a"});
  EXPECT_EQ(space.find(0xfff), nullptr);
  EXPECT_EQ(space.find(0x1000)->name, "a");
  EXPECT_EQ(space.find(0x2fff)->name, "a");
  EXPECT_EQ(space.find(0x3000), nullptr);
}

TEST(AddressSpace, WhatIsMappedOverSomethingReplacesThatPartOfIt) {
  AddressSpace space;
  space.map({0x1000, 0x9000, 0x10000, false, false, "old"});
  space.map({0x3000, 0x5000, 0, false, false, "new"});
  EXPECT_EQ(space.find(0x2fff)->end, 0x3000U);
  EXPECT_EQ(space.find(0x3000)->name, "new");
  EXPECT_EQ(space.find(0x5000)->begin, 0x5000U);
  EXPECT_EQ(space.find(0x5000)->file_offset, 0x14000U);
  EXPECT_EQ(space.find(0x8fff)->name, "old");
}

TEST(AddressSpace, AMappingThatGrowsTakesTheOldOnesPlace) {
  AddressSpace space;
  space.map({0x5000, 0x6000, 0, false, false, "[stack]"});
  space.map({0x7000, 0x8000, 0, false, false, "b"});
  space.map({0x3000, 0x6000, 0, false, false, "[stack]"});
  EXPECT_EQ(space.find(0x5800)->begin, 0x3000U);
  space.map({0x3000, 0x8000, 0, false, false, "all"});
  EXPECT_EQ(space.find(0x7800)->name, "all");
}

TEST(AddressSpace, AnonymousMemoryHasNoName) {
  AddressSpace space;
  space.map({0x1000, 0x2000, 0, false, false, "//anon"});
  EXPECT_EQ(space.find(0x1000)->name, "");
  EXPECT_FALSE(space.find(0x1000)->of_file());
}

}  // namespace
}  // namespace zerotax
