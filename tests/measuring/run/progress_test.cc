#include "run/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
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
  double most = 0;  // upper bound of the seconds left after the first item
  {
    Progress progress("measuring", 2, 10);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    progress.advance(1);
    most = 9 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.show("one that takes long");
    // Without a terminal, progress is silent for two seconds. During the sleep, the test makes no call.
    std::this_thread::sleep_for(std::chrono::milliseconds(4200));
  }
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(out);
  std::stringstream said;
  said << std::ifstream(file).rdbuf();
  const std::string line = said.str();
  EXPECT_TRUE(line.starts_with("measuring: 1 of 2, ")) << line;
  // Two seconds later, less time is left. If this machine delayed the test for longer, the line shows no time.
  const auto left = line.find("about ");
  if (left != std::string::npos) {
    EXPECT_LE(std::stod(line.substr(left + 6)), most - 1) << line;
  }
  EXPECT_NE(line.find("one that takes long\n"), std::string::npos) << line;
}

/// The output on a terminal of this kind, if the total grows after the progress line was shown.
std::string on_terminal(const char* kind) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return "";
  const int errors = ::open(::ptsname(terminal), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::setenv("TERM", kind, 1);
  {
    Progress progress("measuring", 2, 2);
    progress.show("the first");
    std::this_thread::sleep_for(std::chrono::milliseconds(3100));
    progress.add(5, 5);
    progress.show("the second");
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  }
  ::dup2(before, STDERR_FILENO);
  std::string said;
  // The kernel delivers the output in pieces.
  for (pollfd more{terminal, POLLIN, 0}; ::poll(&more, 1, 1000) > 0;) {
    char piece[4096];
    const ssize_t bytes = ::read(terminal, &piece[0], sizeof piece);
    if (bytes <= 0) break;
    said.append(&piece[0], static_cast<std::size_t>(bytes));
  }
  for (const int fd : {terminal, errors, before}) ::close(fd);
  return said;
}

TEST(ProgressOnATerminal, HasNoTotalOnceThatHasGrown) {
  const std::string said = on_terminal("xterm");
  if (said.empty()) GTEST_SKIP() << "no terminals here";
  EXPECT_NE(said.find("measuring: 0 of 2, now the first"), std::string::npos) << said;
  EXPECT_NE(said.find("measuring: 0 done, now the second"), std::string::npos) << said;
  EXPECT_EQ(said.find("of 7"), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("\r\x1b[K")) << "its line is wiped: " << said;
}

TEST(ProgressOnATerminal, IsPlainLinesWhereNothingCanBeWiped) {
  const std::string said = on_terminal("dumb");
  if (said.empty()) GTEST_SKIP() << "no terminals here";
  EXPECT_EQ(said.find('\x1b'), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("now the first\r\n")) << said;
}

}  // namespace
}  // namespace zerotax
