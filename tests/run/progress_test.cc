#include "run/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "temporary_folder.h"

namespace zerotax {
namespace {

using ProgressLine = WithTemporaryFolder;

TEST_F(ProgressLine, IsDrawnByItselfWhileOneItemTakesLong) {
  const std::string file = path("stderr");
  const int before = ::dup(STDERR_FILENO);
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::dup2(out, STDERR_FILENO), STDERR_FILENO);
  {
    Progress progress("measuring", 2, 10);
    progress.advance(5);
    progress.show("one that takes long");
    // Silent for two seconds where it is no terminal; then nobody calls it again.
    std::this_thread::sleep_for(std::chrono::milliseconds(4200));
  }
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(out);
  std::stringstream said;
  said << std::ifstream(file).rdbuf();
  EXPECT_TRUE(said.str().starts_with("measuring: 1 of 2, about ")) << said.str();
  EXPECT_NE(said.str().find("one that takes long\n"), std::string::npos) << said.str();
}

}  // namespace
}  // namespace zerotax
