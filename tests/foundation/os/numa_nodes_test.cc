#include "os/numa_nodes.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

TEST(NumaNodes, AreReadFromTheKernelsLists) {
  EXPECT_EQ(numbers_of_list("0\n"), (std::vector<unsigned>{0}));
  EXPECT_EQ(numbers_of_list("0-1,3"), (std::vector<unsigned>{0, 1, 3}));
  EXPECT_EQ(numbers_of_list("2,10-12\n"), (std::vector<unsigned>{2, 10, 11, 12}));
}

TEST(NumaNodes, WhatIsNoListEndsIt) {
  EXPECT_TRUE(numbers_of_list("").empty());
  EXPECT_TRUE(numbers_of_list("\n").empty());
  EXPECT_EQ(numbers_of_list("1,x"), (std::vector<unsigned>{1}));
  EXPECT_EQ(numbers_of_list("1,2-"), (std::vector<unsigned>{1}));
  EXPECT_TRUE(numbers_of_list("99999999999999999999").empty());
}

TEST(NumaNodes, ThereIsAlwaysOne) { EXPECT_FALSE(numa_nodes().empty()); }

}  // namespace
}  // namespace zerotax
