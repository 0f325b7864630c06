#include <gtest/gtest.h>

#include "os/input_file.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

class TextOf : public WithTemporaryFolder {};

TEST_F(TextOf, IsAllOfTheFile) {
  write("a", std::string("one\ntwo\0three", 13));
  EXPECT_EQ(text_of(path("a")), std::string("one\ntwo\0three", 13));
  EXPECT_EQ(text_of(path("absent")), "");
}

TEST_F(TextOf, DoesNotThrowWhereReadingFails) {
  EXPECT_EQ(text_of("/proc/self/mem"), "");  // EIO, because nothing is mapped at address 0
  EXPECT_EQ(text_of(path()), "");            // EISDIR, because path() is a folder
}

}  // namespace
}  // namespace zerotax
