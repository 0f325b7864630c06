#include "os/pid_namespace.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "temporary_folder.h"

namespace zerotax {
namespace {

class PidNamespace : public WithTemporaryFolder {};

TEST_F(PidNamespace, TheFirstIsToldFromThatOfAContainer) {
  EXPECT_FALSE(in_first_pid_namespace(path()).has_value());
  std::filesystem::create_directories(path("self/ns"));
  std::filesystem::create_symlink("pid:[4026531836]", path("self/ns/pid"));
  EXPECT_EQ(in_first_pid_namespace(path()), true);
  std::filesystem::remove(path("self/ns/pid"));
  std::filesystem::create_symlink("pid:[4026532291]", path("self/ns/pid"));
  EXPECT_EQ(in_first_pid_namespace(path()), false);
}

}  // namespace
}  // namespace zerotax
