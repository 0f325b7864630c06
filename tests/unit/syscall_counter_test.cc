#include "os/syscall_counter.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

namespace zerotax {
namespace {

class SyscallCounterTest : public testing::Test {
 protected:
  void SetUp() override {
    static const char* const refusal = SyscallCounter::install();
    if (refusal != nullptr) GTEST_SKIP() << refusal;
  }
};

TEST_F(SyscallCounterTest, CountsByNumberAndPassesResultsThrough) {
  SyscallCounter::begin();
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 3; ++i) ::syscall(SYS_getppid);
  const int result = ::munmap(memory, 4096);
  const int failed = ::munmap(memory, 1);
  const int reason = errno;
  SyscallCounter::end();
  ::syscall(SYS_getppid);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(failed, 0) << "unmapping nothing is no error";
  EXPECT_NE(memory, MAP_FAILED);
  EXPECT_GE(reason, 0);
  EXPECT_EQ(SyscallCounter::calls(SYS_mmap), 1U);
  EXPECT_EQ(SyscallCounter::calls(SYS_getppid), 3U);
  EXPECT_EQ(SyscallCounter::calls(SYS_munmap), 2U);
  EXPECT_FALSE(SyscallCounter::incomplete());
  EXPECT_FALSE(SyscallCounter::populate_requested());
}

TEST_F(SyscallCounterTest, PassesAllSixArguments) {
  const int file = ::memfd_create("test", 0);
  ASSERT_EQ(::ftruncate(file, 8192), 0);
  ASSERT_EQ(::pwrite(file, "x", 1, 4096), 1);
  SyscallCounter::begin();
  void* memory = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 4096);  // the sixth is the offset
  SyscallCounter::end();
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(*static_cast<char*>(memory), 'x');
  ::munmap(memory, 4096);
  ::close(file);
}

TEST_F(SyscallCounterTest, SurvivesACallThatBlocksAllSignals) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  SyscallCounter::begin();
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const long parent = ::syscall(SYS_getppid);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  SyscallCounter::end();
  EXPECT_EQ(parent, ::getppid());
  EXPECT_EQ(SyscallCounter::calls(SYS_rt_sigprocmask), 2U);
  EXPECT_EQ(SyscallCounter::calls(SYS_getppid), 1U);
}

TEST_F(SyscallCounterTest, SaysThatItStoppedWhenAThreadOrProcessIsStarted) {
  SyscallCounter::begin();
  pthread_t thread{};
  const int created = ::pthread_create(
      &thread, nullptr, [](void* value) { return value; }, nullptr);
  SyscallCounter::end();
  ASSERT_EQ(created, 0);
  ::pthread_join(thread, nullptr);
  EXPECT_TRUE(SyscallCounter::incomplete());

  SyscallCounter::begin();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(3);
  SyscallCounter::end();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_TRUE(SyscallCounter::incomplete());
}

TEST_F(SyscallCounterTest, PausesForOurOwnCalls) {
  SyscallCounter::begin();
  {
    const SyscallCounter::Pause pause;
    ::syscall(SYS_getppid);
  }
  ::syscall(SYS_getpid);
  SyscallCounter::end();
  EXPECT_EQ(SyscallCounter::calls(SYS_getppid), 0U);
  EXPECT_EQ(SyscallCounter::calls(SYS_getpid), 1U);
}

TEST_F(SyscallCounterTest, NoticesThatTheKernelWasAskedToPopulate) {
  SyscallCounter::begin();
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  SyscallCounter::end();
  EXPECT_TRUE(SyscallCounter::populate_requested());
  ::munmap(memory, 4096);
}

TEST_F(SyscallCounterTest, NoticesEveryOtherWayToAskForPagesAndForgetsItWithTheNextCall) {
  const auto map = [] { return ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); };
  void* memory = map();
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ of Linux 5.14
  const std::pair<const char*, std::function<void()>> ways[] = {
      {"MADV_POPULATE_READ", [&] { ::madvise(memory, 4096, kPopulateRead); }},
      {"MADV_POPULATE_WRITE", [&] { ::madvise(memory, 4096, kPopulateRead + 1); }},
      {"mlock", [&] { ::mlock(memory, 4096); }},
      {"mlock2", [&] { ::syscall(SYS_mlock2, memory, 4096, 0); }},
      {"MAP_LOCKED",
       [&] { ::mmap(memory, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED, -1, 0); }}};
  for (const auto& [name, ask] : ways) {
    SyscallCounter::begin();
    ask();
    SyscallCounter::end();
    EXPECT_TRUE(SyscallCounter::populate_requested()) << name;
    SyscallCounter::begin();
    ::madvise(memory, 4096, MADV_NOHUGEPAGE);
    SyscallCounter::end();
    EXPECT_FALSE(SyscallCounter::populate_requested()) << "after " << name;
  }
  ::munmap(memory, 4096);
}

TEST(SyscallNames, AreTheKernels) {
  EXPECT_STREQ(syscall_name(SYS_mmap), "mmap");
  EXPECT_STREQ(syscall_name(SYS_munmap), "munmap");
  EXPECT_STREQ(syscall_name(SYS_madvise), "madvise");
  EXPECT_EQ(syscall_name(511), nullptr);
}

}  // namespace
}  // namespace zerotax
