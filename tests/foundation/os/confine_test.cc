#include "os/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>

namespace zerotax {
namespace {

/// Returns the exit status of a process that runs `then` after its rights were removed.
int confined(const std::function<int()>& then) {
  const pid_t child = ::fork();
  if (child == 0) {
    confine_process();
    ::_exit(then());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool filters() {
  return confined([] { return ::syscall(SYS_getppid) < 0 && errno == EACCES ? 1 : 0; }) == 1;
}

bool is_refused(long result) { return result < 0 && (errno == EACCES || errno == EPERM); }

TEST(Confine, NothingIsOpenedStartedOrSignalled) {
  if (!filters()) GTEST_SKIP() << "system calls cannot be filtered here";
  const pid_t parent = ::getpid();
  EXPECT_EQ(confined([&] {
              int failed = 0;
              const char* const words[] = {"/bin/true", nullptr};
              failed += is_refused(::syscall(SYS_openat, AT_FDCWD, "/etc/hostname", O_RDONLY, 0)) ? 0 : 1;
              failed += is_refused(::socket(AF_INET, SOCK_DGRAM, 0)) ? 0 : 2;
              failed += is_refused(::socket(AF_UNIX, SOCK_STREAM, 0)) ? 0 : 4;
              failed += is_refused(::syscall(SYS_execve, words[0], &words[0], &words[1])) ? 0 : 8;
              failed += is_refused(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) ? 0 : 16;
              failed += is_refused(::kill(parent, 0)) ? 0 : 32;
              failed += is_refused(::syscall(SYS_unlinkat, AT_FDCWD, "/tmp/no such file", 0)) ? 0 : 64;
              return failed;
            }),
            0);
}

TEST(Confine, NoMemoryBecomesExecutable) {
  if (!filters()) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(confined([] {
              const int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
              void* data = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, kPrivate, -1, 0);
              if (data == MAP_FAILED) return 1;
              if (::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, kPrivate, -1, 0) != MAP_FAILED) return 2;
              return is_refused(::mprotect(data, 4096, PROT_READ | PROT_EXEC)) ? 0 : 3;
            }),
            0);
}

TEST(Confine, RootBecomesAUserThatOwnsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  const pid_t child = ::fork();
  if (child == 0) {
    confine_process();
    ::pause();  // refused if system calls are filtered
    for (;;) {
    }
  }
  // The change of user is the last restriction that another process can see.
  uid_t user = 0;
  for (int i = 0; i < 1000 && user == 0; ++i) {
    char path[64];
    std::snprintf(&path[0], sizeof path, "/proc/%d/status", child);
    FILE* file = std::fopen(&path[0], "re");
    char line[256];
    while (file != nullptr && std::fgets(&line[0], sizeof line, file) != nullptr)
      static_cast<void>(std::sscanf(&line[0], "Uid: %u", &user));
    if (file != nullptr) std::fclose(file);
    ::usleep(10'000);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(user, 0U);
}

TEST(Confine, ItsMemoryIsLimited) {
  EXPECT_EQ(confined([] {
              // The filter permits a process to change only its own limits.
              limit_address_space(std::uint64_t{64} << 20);
              rlimit limit{};
              if (::getrlimit(RLIMIT_AS, &limit) != 0) return 1;
              if (limit.rlim_cur == RLIM_INFINITY) return 42;  // no limit is set under a sanitizer
              return std::malloc(std::size_t{1} << 30) == nullptr ? 0 : 2;
            }) % 42,
            0);
}

}  // namespace
}  // namespace zerotax
