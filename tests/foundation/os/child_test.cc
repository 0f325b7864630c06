#include "os/child.h"

#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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
  // The process has ended and was reaped here, so not even a zombie remains. In a container, no other process may reap
  // it.
  EXPECT_EQ(::kill(std::stoi(result.output), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Child, ThatStopsItselfIsNotWaitedForToItsTimeout) {
#if defined(__aarch64__)
  GTEST_SKIP() << "on arm64, the kernel does not report the system call in which a process was stopped";
#endif
  ChildCommand command = shell("kill -STOP $$; echo continued");
  command.timeout = std::chrono::seconds(20);
  const ChildResult result = run_child(command, nullptr);
  EXPECT_EQ(result.end, End::kSuspended);
  EXPECT_EQ(result.code, SIGSTOP);
  EXPECT_EQ(result.output, "");
}

TEST(Child, ThatSomebodyElseStopsUsesNoTimeMeanwhile) {
  // The child's own child stops it, and continues it after more than the timeout.
  ChildCommand command = shell("(sleep 0.2; kill -STOP $$; sleep 1; kill -CONT $$) & wait; echo continued");
  command.timeout = std::chrono::milliseconds(700);
  const ChildResult result = run_child(command, nullptr);
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.output, "continued\n");
  EXPECT_LT(result.used, std::chrono::milliseconds(700));
}

TEST(Child, ThatCannotHaveAPipeSaysSoRatherThanTalkIntoOurStreams) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{5, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const ChildResult result = run_child(shell("echo metadata"), nullptr);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(result.end, End::kNotStarted);
  EXPECT_EQ(result.code, EMFILE);
  EXPECT_STREQ(result.failed_call, "pipe");
}

TEST(Child, ThatEndsTakesWithItWhatItLeftRunning) {
  // The output is redirected, because run_child would wait for a pipe that stays open.
  const ChildResult result = run_child(shell("sleep 100 >/dev/null 2>&1 & echo $!"), nullptr);
  EXPECT_EQ(result.end, End::kExited);
  ASSERT_FALSE(result.output.empty());
  // The process has ended and was reaped here, so not even a zombie remains. In a container, no other process may reap
  // it.
  EXPECT_EQ(::kill(std::stoi(result.output), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Child, IsFirstInLineWhenTheKernelRunsOutOfMemory) {
  EXPECT_EQ(run_child(shell("cat /proc/self/oom_score_adj"), nullptr).output, "1000\n");
}

TEST(Child, HasTheSameLayoutEveryTime) {
  const int before = ::personality(0xffffffff);
  if (::personality(ADDR_NO_RANDOMIZE) < 0) GTEST_SKIP() << "address randomization cannot be switched off here";
  ::personality(static_cast<unsigned long>(before));
  const ChildCommand command = shell("grep -F '[stack]' /proc/self/maps");
  const std::string first = run_child(command, nullptr).output;
  EXPECT_NE(first, "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run_child(command, nullptr).output, first);
}

TEST(Child, ReadsNothingOfOurStandardInput) {
  int ends[2];
  ASSERT_EQ(::pipe(&ends[0]), 0);
  ASSERT_EQ(::write(ends[1], "ours\n", 5), 5);
  ::close(ends[1]);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  const ChildResult result = run_child(shell("cat"), nullptr);
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(ends[0]);
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.output, "");
}

TEST(Child, CanBeEndedThoughWeIgnoreOrBlockTheSignal) {
  const auto before = ::signal(SIGTERM, SIG_IGN);
  ChildResult result = run_child(shell("kill -TERM $$; echo alive"), nullptr);
  ::signal(SIGTERM, before);
  EXPECT_EQ(result.end, End::kSignalled);
  EXPECT_EQ(result.output, "");

  sigset_t blocked;
  sigset_t old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &old);
  result = run_child(shell("kill -TERM $$; echo alive"), nullptr);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  EXPECT_EQ(result.end, End::kSignalled);
  EXPECT_EQ(result.output, "");
}

TEST(Child, ThatEatsMemoryIsKilledAtItsLimit) {
  // dd reads into a buffer of 300 MiB, but the limit is 64 MiB.
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
