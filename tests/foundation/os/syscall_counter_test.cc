#include "os/syscall_counter.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <utility>

#include "os/page.h"

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
  EXPECT_EQ(failed, 0) << "unmapping nothing is not an error";
  EXPECT_NE(memory, MAP_FAILED);
  EXPECT_GE(reason, 0);
  EXPECT_EQ(SyscallCounter::calls(SYS_mmap), 1U);
  EXPECT_EQ(SyscallCounter::calls(SYS_getppid), 3U);
  EXPECT_EQ(SyscallCounter::calls(SYS_munmap), 2U);
  EXPECT_FALSE(SyscallCounter::incomplete());
}

TEST_F(SyscallCounterTest, PassesAllSixArguments) {
  const auto page = static_cast<long>(page_bytes());
  const int file = ::memfd_create("test", 0);
  ASSERT_EQ(::ftruncate(file, 2 * page), 0);
  ASSERT_EQ(::pwrite(file, "x", 1, page), 1);
  SyscallCounter::begin();
  void* memory = ::mmap(nullptr, page, PROT_READ, MAP_SHARED, file, page);  // the sixth argument is the offset
  SyscallCounter::end();
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(*static_cast<char*>(memory), 'x');
  ::munmap(memory, page);
  ::close(file);
}

#if defined(__x86_64__)

int getpid_of_i386() {
  int result = 20;  // writev of x86-64
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result;
}

TEST_F(SyscallCounterTest, LeavesACallOfAnotherArchitectureToTheThreadAndSaysThatItsCountIsNotWhole) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(getpid_of_i386() == ::getpid() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  if (status != 0) GTEST_SKIP() << "this kernel runs no i386 programs";
  SyscallCounter::begin();
  const int result = getpid_of_i386();
  SyscallCounter::end();
  EXPECT_EQ(result, ::getpid());
  EXPECT_TRUE(SyscallCounter::incomplete());
  EXPECT_NE(std::string(SyscallCounter::why_incomplete()).find("i386"), std::string::npos);
  EXPECT_EQ(SyscallCounter::calls(SYS_writev), 0U);
}

#endif

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

TEST_F(SyscallCounterTest, TellsAnObserverBeforeAndAfterEachCallAndCountsNoneOfItsOwn) {
  struct Watcher final : SyscallCounter::Observer {
    void before_call(const SystemCall& call) override {
      ::syscall(SYS_getppid);
      before = call.arguments[1];
    }
    void after_call(const SystemCall& /*call*/, long result) override { after = result; }
    long before = 0;
    long after = 0;
  } watcher;
  SyscallCounter::begin(&watcher);
  void* memory = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SyscallCounter::end();
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(watcher.before, 8192);
  EXPECT_EQ(watcher.after, reinterpret_cast<long>(memory));
  EXPECT_EQ(SyscallCounter::calls(SYS_getppid), 0U);
  ::munmap(memory, 8192);
}

TEST_F(SyscallCounterTest, LeavesTheSignalsBlockedThatTheCallBlocked) {
  sigset_t all;
  sigset_t before;
  sigset_t seen;
  sigset_t after;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, nullptr, &before);
  ASSERT_EQ(SyscallCounter::begin(), nullptr);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::sigprocmask(SIG_SETMASK, nullptr, &seen);
  SyscallCounter::end();
  ::sigprocmask(SIG_SETMASK, nullptr, &after);
  // Repeats the test with a mask that already blocks SIGSYS.
  ASSERT_EQ(SyscallCounter::begin(), nullptr);
  const long parent = ::syscall(SYS_getppid);
  SyscallCounter::end();
  sigset_t last;
  ::sigprocmask(SIG_SETMASK, &before, &last);
  for (const sigset_t* set : {&seen, &after, &last}) {
    EXPECT_TRUE(sigismember(set, SIGSYS));
    EXPECT_TRUE(sigismember(set, SIGUSR1));
  }
  EXPECT_EQ(parent, ::getppid());
}

TEST_F(SyscallCounterTest, LetsAHandlerRunAndReturnWhoseMaskBlocksEverything) {
  static volatile long parent = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { parent = ::syscall(SYS_getppid); };
  sigfillset(&action.sa_mask);
  ASSERT_EQ(SyscallCounter::begin(), nullptr);
  ::sigaction(SIGUSR1, &action, nullptr);
  ::raise(SIGUSR1);
  struct sigaction found {};
  ::sigaction(SIGUSR1, nullptr, &found);
  SyscallCounter::end();
  EXPECT_EQ(parent, ::getppid());
  EXPECT_TRUE(sigismember(&found.sa_mask, SIGSYS));
  EXPECT_EQ(SyscallCounter::calls(SYS_getppid), 1U);
  ::signal(SIGUSR1, SIG_DFL);
}

TEST(SyscallNames, AreTheKernels) {
  EXPECT_STREQ(syscall_name(SYS_mmap), "mmap");
  EXPECT_STREQ(syscall_name(SYS_munmap), "munmap");
  EXPECT_STREQ(syscall_name(SYS_madvise), "madvise");
  EXPECT_EQ(syscall_name(511), nullptr);
}

}  // namespace
}  // namespace zerotax
