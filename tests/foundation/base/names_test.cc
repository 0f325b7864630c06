#include "base/names.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

TEST(Names, OfCppAreReadable) {
  EXPECT_EQ(demangled("_ZN7zerotax9file_nameERKi"), "zerotax::file_name(int const&)");
  EXPECT_EQ(demangled("main"), "main");
  EXPECT_EQ(demangled(""), "");
}

TEST(Names, OfFilesAreTheLastPartOfTheirPath) {
  EXPECT_EQ(file_name("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(file_name("libc.so.6"), "libc.so.6");
  EXPECT_EQ(file_name("/usr/"), "");
}

}  // namespace
}  // namespace zerotax
