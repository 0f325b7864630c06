// Divides its CPU time between two functions, three to one, by the method that the first argument names. `split list`
// prints the methods.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

char** arguments = nullptr;

double cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

extern "C" {

__attribute__((noinline)) void spends_three(double seconds) {
  volatile unsigned long sum = 0;
  const double end = cpu_s() + seconds;
  while (cpu_s() < end) {
    for (unsigned i = 0; i < 100'000; ++i) sum = sum + i;
  }
}

__attribute__((noinline)) void spends_one(double seconds) {
  volatile unsigned long sum = 0;
  const double end = cpu_s() + seconds;
  while (cpu_s() < end) {
    for (unsigned i = 0; i < 100'000; ++i) sum = sum + i;
  }
}

}  // extern "C"

namespace {

int plain() {
  for (int i = 0; i < 4; ++i) {
    spends_three(0.09);
    spends_one(0.03);
  }
  return 0;
}

template <typename Run>
int in_child(Run run) {
  const pid_t child = ::fork();
  if (child == 0) {
    run();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, __WALL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int forked() { return in_child(plain); }

int execs() { return ::execl("/proc/self/exe", arguments[0], "plain", static_cast<char*>(nullptr)); }

int deleted() {
  ::unlink(arguments[0]);
  return plain();
}

int in_pid_namespace() {
  if (::unshare(::geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWUSER | CLONE_NEWPID) != 0) return 77;
  return forked();
}

int chrooted() {
  if (::chroot("/proc") != 0 || ::chdir("/") != 0) return 77;
  return plain();
}

int main_thread_gone() {
  pthread_t thread{};
  const auto run = [](void*) -> void* {
    plain();
    ::_exit(0);
  };
  ::pthread_create(&thread, nullptr, run, nullptr);
  ::syscall(SYS_exit, 0);
  return 3;
}

int killed() {
  plain();
  return ::raise(SIGKILL);
}

int stopped() {
  // For half of the time, a child stops this process.
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 10; ++i) {
      ::usleep(20'000);
      ::kill(self, SIGSTOP);
      ::usleep(20'000);
      ::kill(self, SIGCONT);
    }
    ::_exit(0);
  }
  plain();
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return 0;
}

int many() {
  for (int i = 0; i < 30; ++i) {
    in_child([] {
      spends_three(0.012);
      spends_one(0.004);
    });
  }
  return 0;
}

int renamed() {
  ::prctl(PR_SET_NAME, "a\"b\\c\nd) S 1", 0, 0, 0);
  return plain();
}

int as_nobody() {
  if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 77;
  return plain();
}

int not_dumpable() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return plain();
}

int generated() {
  // dec %rdi; jnz; ret. Three quarters of the time are spent in memory without a file.
  static constexpr unsigned char kCode[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
  void* memory = ::mmap(nullptr, sizeof kCode, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 77;
  std::memcpy(memory, &kCode[0], sizeof kCode);
  const auto count_down = reinterpret_cast<void (*)(unsigned long)>(memory);
  for (int i = 0; i < 4; ++i) {
    const double end = cpu_s() + 0.09;
    while (cpu_s() < end) count_down(100'000);
    spends_one(0.03);
  }
  return 0;
}

int in_clone() {
  static char stack[1 << 16];
  const auto run = [](void*) -> int {
    plain();
    ::_exit(0);
  };
  const pid_t child = ::clone(run, &stack[sizeof stack], CLONE_VM | SIGCHLD, nullptr);
  int status = 0;
  return ::waitpid(child, &status, __WALL) == child ? 0 : 3;
}

int in_handler() {
  ::signal(SIGUSR1, [](int) { plain(); });
  return ::raise(SIGUSR1);
}

int borrowed() {
  const pid_t child = ::vfork();
  if (child == 0) {
    plain();  // NOLINT(clang-analyzer-unix.Vfork): that is what is tested
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? 0 : 3;
}

int daemon_of_its_own() {
  // No process waits for the child, so no other process's CPU time includes the child's. The end of a pipe shows the
  // end of the child.
  int ends[2];
  char byte = 0;
  if (::pipe(&ends[0]) != 0) return 3;
  in_child([&] {
    if (::setsid() > 0 && ::fork() == 0) {
      plain();
      ::_exit(::write(ends[1], &byte, 1) == 1 ? 0 : 3);
    }
  });
  return ::read(ends[0], &byte, 1) == 1 ? 0 : 3;
}

int in_memory() {
  const int to = ::memfd_create("split", 0);
  const int from = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  static char bytes[1 << 16];
  for (ssize_t got = 0; (got = ::read(from, &bytes[0], sizeof bytes)) > 0;) {
    if (::write(to, &bytes[0], static_cast<std::size_t>(got)) != got) return 3;
  }
  char name[] = "split";
  char way[] = "plain";
  char* words[] = {&name[0], &way[0], nullptr};
  char* environment[] = {nullptr};
  return ::fexecve(to, &words[0], &environment[0]);
}

struct Way {
  const char* name;
  int (*run)();
};

constexpr Way kWays[] = {
    {"plain", plain},
    {"forked", forked},
    {"execs", execs},
    {"deleted", deleted},
    {"pid-namespace", in_pid_namespace},
    {"chrooted", chrooted},
    {"main-thread-gone", main_thread_gone},
    {"killed", killed},
    {"stopped", stopped},
    {"many", many},
    {"renamed", renamed},
    {"as-nobody", as_nobody},
    {"not-dumpable", not_dumpable},
    {"generated", generated},
    {"clone", in_clone},
    {"handler", in_handler},
    {"vfork", borrowed},
    {"daemon", daemon_of_its_own},
    {"memory", in_memory},
};

}  // namespace

int main(int argc, char** argv) {
  arguments = argv;
  if (argc < 2) return 2;
  for (const Way& way : kWays) {
    if (std::strcmp(argv[1], "list") == 0) std::puts(way.name);
    if (std::strcmp(argv[1], way.name) == 0) return way.run();
  }
  return std::strcmp(argv[1], "list") == 0 ? 0 : 2;
}
