#include "os/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "base/size.h"

namespace zerotax {
namespace {

using End = ChildResult::End;

ChildCommand shell(const std::string& script) {
  ChildCommand command;
  command.program = "/bin/sh";
  command.arguments = {"-c", script};
  command.capture = true;
  return command;
}

/// Whether a process is there and no zombie: in a container nobody may reap an orphan.
bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number;
  std::string name;
  char state = 'Z';
  file >> number >> name >> state;
  return state != 'Z';
}

TEST(Child, BringsBackItsExitStatusAndItsOutput) {
  const ChildResult result = run_child(shell("echo out; echo err >&2; exit 7"), nullptr);
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(Child, HasItsEnvironmentAddedToOurs) {
  ::setenv("ZEROTAX_TEST_OURS", "a", 1);
  ChildCommand command = shell("echo $ZEROTAX_TEST_OURS $ZEROTAX_TEST_ADDED");
  command.environment = {{"ZEROTAX_TEST_ADDED", "b"}};
  EXPECT_EQ(run_child(command, nullptr).output, "a b\n");
  command.environment = {{"ZEROTAX_TEST_ADDED", "b"}, {"ZEROTAX_TEST_OURS", "c"}};
  EXPECT_EQ(run_child(command, nullptr).output, "c b\n");
}

TEST(Child, ThatDiesOfASignalSaysWhich) {
  const ChildResult result = run_child(shell("kill -SEGV $$"), nullptr);
  EXPECT_EQ(result.end, End::kSignalled);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST(Child, ThatHangsIsKilledAtTheTimeoutWithItsGroup) {
  ChildCommand command = shell("sleep 100 & echo $!; wait");
  command.timeout = std::chrono::milliseconds(300);
  const ChildResult result = run_child(command, nullptr);
  EXPECT_EQ(result.end, End::kTimeout);
  ASSERT_FALSE(result.output.empty());
  bool running = true;
  for (int i = 0; i < 100 && running; ++i) {
    running = is_running(std::stoi(result.output));
    if (running) ::usleep(10'000);
  }
  EXPECT_FALSE(running);
}

TEST(Child, ThatEatsMemoryIsKilledAtItsLimit) {
  // dd's buffer is 300 MiB, written by the read; the limit is 64 MiB.
  ChildCommand command = shell("exec dd if=/dev/zero of=/dev/null bs=300M count=1000 2>/dev/null");
  command.resident_limit = 64 * kMiB;
  const ChildResult result = run_child(command, nullptr);
  EXPECT_EQ(result.end, End::kMemory);
}

TEST(Child, IsKilledWhenToldToStop) {
  const ChildResult result = run_child(shell("sleep 100"), [] { return true; });
  EXPECT_EQ(result.end, End::kStopped);
}

TEST(Child, ThatCannotBeStartedSaysWhy) {
  ChildCommand command;
  command.program = "/no/such/program";
  const ChildResult result = run_child(command, nullptr);
  EXPECT_EQ(result.end, End::kNotStarted);
  EXPECT_EQ(result.code, ENOENT);
}

TEST(Child, WithMuchToSayIsCutButNotBlocked) {
  const ChildResult result = run_child(shell("head -c 1000000 /dev/zero"), nullptr);
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.output.size(), 64U * 1024);
}

}  // namespace
}  // namespace zerotax
