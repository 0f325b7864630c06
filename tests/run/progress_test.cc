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

TEST_F(ProgressLine, IsDrawnByItselfWhileOneItemTakesLongAndCountsDown) {
  const std::string file = path("stderr");
  const int before = ::dup(STDERR_FILENO);
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::dup2(out, STDERR_FILENO), STDERR_FILENO);
  const auto start = std::chrono::steady_clock::now();
  double most = 0;  // of what is left, when the first item was done
  {
    Progress progress("measuring", 2, 10);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    progress.advance(1);
    most = 9 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.show("one that takes long");
    // Silent for two seconds where it is no terminal; then nobody calls it again.
    std::this_thread::sleep_for(std::chrono::milliseconds(4200));
  }
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(out);
  std::stringstream said;
  said << std::ifstream(file).rdbuf();
  const std::string line = said.str();
  EXPECT_TRUE(line.starts_with("measuring: 1 of 2, ")) << line;
  // Two seconds later it is less, or, on a machine that kept us waiting for longer, nothing that one could say.
  const auto left = line.find("about ");
  if (left != std::string::npos) {
    EXPECT_LE(std::stod(line.substr(left + 6)), most - 1) << line;
  }
  EXPECT_NE(line.find("one that takes long\n"), std::string::npos) << line;
}

}  // namespace
}  // namespace zerotax
