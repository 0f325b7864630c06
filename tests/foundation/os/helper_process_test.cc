#include "os/helper_process.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

namespace zerotax {
namespace {

TEST(HelperProcess, GreetsWithItsPortAndACertificate) {
  HelperProcess server;
  ASSERT_STREQ(server.start(RECV_SERVER, "tls"), nullptr);
  const std::string greeting = server.greeting();
  EXPECT_EQ(greeting.find("port="), 0U);
  EXPECT_NE(greeting.find("-----END CERTIFICATE-----"), std::string::npos);
}

TEST(HelperProcess, HasNoEnvironment) {
  ::setenv("LD_LIBRARY_PATH", "/nowhere", 1);
  HelperProcess server;
  ASSERT_STREQ(server.start(RECV_SERVER, "tcp"), nullptr);
  ::unsetenv("LD_LIBRARY_PATH");
  std::ifstream file("/proc/" + std::to_string(server.pid()) + "/environ");
  EXPECT_EQ(file.peek(), std::ifstream::traits_type::eof());
}

TEST(HelperProcess, IsGoneAndReapedWhenItIsStopped) {
  HelperProcess server;
  ASSERT_STREQ(server.start(RECV_SERVER, "tcp"), nullptr);
  const pid_t pid = server.pid();
  server.stop();
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  server.stop();
}

TEST(HelperProcess, IsGoneWhenItsParentIsKilled) {
  // The orphan becomes our child, so that we can wait for its end.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ends[2];
  ASSERT_EQ(::pipe(&ends[0]), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    HelperProcess server;
    pid_t pid = server.start(RECV_SERVER, "tcp") == nullptr ? server.pid() : -1;
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &pid, sizeof pid);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  ::waitpid(parent, nullptr, 0);
  // waitpid returns only when the helper has ended. If the helper never ends, the test times out.
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(HelperProcess, ThatEndsAtOnceOrIsNotThereSaysSo) {
  HelperProcess helper;
  EXPECT_STREQ(helper.start("/bin/true", "x"), "its server ended before it was ready");
  EXPECT_STREQ(helper.start("/no/such/server", "x"), "its server does not exist: install libssl-dev, then build again");
  EXPECT_LT(helper.pid(), 0);
}

TEST(PathBesideThisProgram, IsInTheSameFolderOrDoesNotFit) {
  char path[4096];
  ASSERT_TRUE(path_beside_this_program("other", &path[0], sizeof path));
  EXPECT_TRUE(std::string(&path[0]).ends_with("/tests/other"));
  EXPECT_FALSE(path_beside_this_program("other", &path[0], 3));
}

}  // namespace
}  // namespace zerotax
