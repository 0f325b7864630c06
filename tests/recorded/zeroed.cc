// Makes the kernel zero a known number of bytes, in the situation that the first argument names. Three blocks of 40 MiB
// are allocated, written to and freed, one after the other. glibc maps and unmaps blocks of this size separately,
// whatever its current thresholds are. Thus 40 MiB are fresh and 80 MiB are refilled.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "zeroed/ways.h"

namespace {

char** arguments;

void fill_one() {
  auto* block = static_cast<char*>(std::malloc(kBytes));
  if (block == nullptr) ::_exit(9);
  escape(block);
  write_pages(block, kBytes);
  std::free(block);
}

int fill() {
  for (int i = 0; i < kBlocks; ++i) fill_one();
  return 0;
}

int in_thread(void* (*run)(void*)) {
  pthread_t thread{};
  ::pthread_create(&thread, nullptr, run, nullptr);
  ::pthread_join(thread, nullptr);
  return 0;
}

/// Runs this program again, in the same process, with another argument.
int become(const char* how) {
  char name[32];
  std::snprintf(&name[0], sizeof name, "%s", how);
  char* words[] = {arguments[0], &name[0], nullptr};
  ::execv("/proc/self/exe", &words[0]);
  return 8;
}

int stop_between() {
  fill_one();
  ::raise(SIGSTOP);
  fill_one();
  ::raise(SIGSTOP);
  fill_one();
  return 0;
}

int killed_from_thread() {
  fill();
  return in_thread([](void*) -> void* {
    ::kill(::getpid(), SIGKILL);
    return nullptr;
  });
}

int out_of_time() {
  fill();
  const rlimit one{1, 1};
  ::setrlimit(RLIMIT_CPU, &one);
  for (int i = 0;; ++i) escape(&i);
}

int crash_in_handler() {
  fill();
  struct sigaction action {};
  action.sa_handler = [](int) { std::abort(); };
  ::sigaction(SIGSEGV, &action, nullptr);
  ::raise(SIGSEGV);
  return 8;
}

int exit_of_a_raw_call() {
  fill();
  ::syscall(SYS_exit_group, 0);
  return 8;
}

int main_thread_ends_first() {
  pthread_t thread{};
  ::pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        ::usleep(20'000);
        fill();
        ::exit(0);
      },
      nullptr);
  ::syscall(SYS_exit, 0);
  return 8;
}

int exec_from_thread() {
  fill_one();
  return in_thread([](void*) -> void* {
    become("two");
    return nullptr;
  });
}

int spawned_by_vfork() {
  const pid_t child = ::vfork();
  if (child == 0) {
    char name[] = "fill";  // NOLINT(clang-analyzer-unix.Vfork): on the stack, of which nothing is used later
    char* words[] = {arguments[0], &name[0], nullptr};
    ::execv("/proc/self/exe", &words[0]);
    ::_exit(8);
  }
  return wait_for(child);
}

int from_a_memfd() {
  const int file = static_cast<int>(::syscall(SYS_memfd_create, "program", MFD_CLOEXEC));
  const int self = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  char buffer[1 << 16];
  for (ssize_t got = 0; (got = ::read(self, &buffer[0], sizeof buffer)) > 0;) {
    if (::write(file, &buffer[0], static_cast<std::size_t>(got)) != got) return 8;
  }
  char name[] = "fill";
  char* words[] = {arguments[0], &name[0], nullptr};
  ::fexecve(file, &words[0], environ);
  return 8;
}

int daemon_behind() {
  if (::fork() != 0) ::_exit(0);
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  // A busy machine may not notice at once that the program has ended.
  ::usleep(3'000'000);
  fill();
  ::_exit(0);
}

int child_killed() {
  const pid_t child = ::fork();
  if (child == 0) {
    fill();
    ::kill(::getpid(), SIGKILL);
  }
  wait_for(child);
  return 0;
}

int child_ignored() {
  // No process waits for the child. The kernel reaps it, and no parent's resource usage includes the child's.
  ::signal(SIGCHLD, SIG_IGN);
  if (::fork() == 0) {
    fill();
    ::syscall(SYS_exit_group, 0);
  }
  ::wait(nullptr);
  return 0;
}

int init_of_a_pid_namespace() {
  if (::unshare(::geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWUSER | CLONE_NEWPID) != 0) return 77;
  const pid_t child = ::fork();
  if (child == 0) ::exit(fill());
  return wait_for(child);
}

int in_chroot() {
  if (::chroot("/proc/self/fdinfo") != 0 || ::chdir("/") != 0) return 77;
  return fill();
}

int without_descriptors() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_NOFILE, &none);
  return fill();
}

int not_dumpable() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return fill();
}

/// Makes the given system calls fail, and allows all others.
template <std::size_t N>
int without_calls(const std::uint32_t (&numbers)[N]) {
  sock_filter filter[2 * N + 2];
  filter[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);  // seccomp_data::nr
  for (std::size_t i = 0; i < N; ++i) {
    filter[2 * i + 1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
    filter[2 * i + 2] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  filter[2 * N + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{static_cast<unsigned short>(2 * N + 2), &filter[0]};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 77;
  return fill();
}

int without_usage() { return without_calls({SYS_getrusage, SYS_pread64, SYS_ioctl}); }

int without_clock() { return without_calls({SYS_clock_gettime}); }

/// After this call, any system call except read, write, exit and sigreturn ends the program.
int in_strict_seccomp() {
  fill();
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 77;
  ::syscall(SYS_exit, 0);
  return 8;
}

int by_raw_clone() {
  // A thread that is unknown to the C library writes the pages.
  char* stack = map(1 << 20, MAP_PRIVATE | MAP_ANONYMOUS);
  static char* block;
  for (int i = 0; i < kBlocks; ++i) {
    block = static_cast<char*>(std::malloc(kBytes));
    const pid_t child = ::clone(
        [](void*) -> int {
          for (std::size_t at = 0; at < kBytes; at += kPage) block[at] = 1;
          ::syscall(SYS_exit, 0);
          return 0;
        },
        stack + (1 << 20), CLONE_VM | SIGCHLD, nullptr);
    wait_for(child);
    std::free(block);
  }
  return 0;
}

/// Starts a process, not a thread, that shares this process's memory and calls `run`.
pid_t share_memory(int (*run)(void*)) {
  constexpr std::size_t kStackBytes = std::size_t{1} << 20;
  return ::clone(run, map(kStackBytes, MAP_PRIVATE | MAP_ANONYMOUS) + kStackBytes, CLONE_VM | SIGCHLD, nullptr);
}

int by_sharer() {
  return wait_for(share_memory([](void*) -> int { return fill(); }));
}

int by_killed_sharer() {
  wait_for(share_memory([](void*) -> int {
    fill();
    return ::kill(::getpid(), SIGKILL);
  }));
  return 0;
}

int by_sharer_that_becomes_another() {
  return wait_for(share_memory([](void*) -> int {
    fill();
    return become("none");
  }));
}

int by_surviving_sharer() {
  share_memory([](void*) -> int {
    ::usleep(3'000'000);
    return fill();
  });
  ::_exit(0);
}

int by_vfork() {
  const pid_t child = ::vfork();
  // NOLINTNEXTLINE(clang-analyzer-unix.Vfork): it does what it must not do
  if (child == 0) ::_exit(fill());
  return wait_for(child);
}

int in_a_thousand_threads() {
  // Each of 1,000 threads writes 30 pages, about 120 MiB in all. The remainder, less than a page per thread, is
  // negligible.
  for (int i = 0; i < 1000; ++i) {
    in_thread([](void*) -> void* {
      const std::size_t part = kBlocks * kBytes / 1000 / kPage * kPage;
      auto* block = map(part, MAP_PRIVATE | MAP_ANONYMOUS);
      write_pages(block, part);
      ::munmap(block, part);
      return nullptr;
    });
  }
  return 0;
}

int in_fifty_generations() {
  // Each child has a child of its own, and each process fills a part of the 120 MiB.
  for (int i = 0; i < 50; ++i) {
    const std::size_t part = kBlocks * kBytes / 50 / kPage * kPage;
    auto* block = map(part, MAP_PRIVATE | MAP_ANONYMOUS);
    write_pages(block, part);
    ::munmap(block, part);
    const pid_t child = ::fork();
    if (child != 0) ::_exit(wait_for(child));
  }
  return 0;
}

int none() { return 0; }

int two() {
  fill_one();
  fill_one();
  return 0;
}

constexpr Way kWays[] = {
    {"fill", fill},
    {"none", none},
    {"two", two},
    {"stop", stop_between},
    {"killed-from-thread", killed_from_thread},
    {"out-of-time", out_of_time},
    {"crash-in-handler", crash_in_handler},
    {"raw-exit", exit_of_a_raw_call},
    {"main-thread-first", main_thread_ends_first},
    {"exec-from-thread", exec_from_thread},
    {"vfork", spawned_by_vfork},
    {"memfd", from_a_memfd},
    {"daemon", daemon_behind},
    {"child-killed", child_killed},
    {"child-ignored", child_ignored},
    {"pid-namespace", init_of_a_pid_namespace},
    {"chroot", in_chroot},
    {"no-descriptors", without_descriptors},
    {"not-dumpable", not_dumpable},
    {"no-usage", without_usage},
    {"no-clock", without_clock},
    {"strict-seccomp", in_strict_seccomp},
    {"clone", by_raw_clone},
    {"sharer", by_sharer},
    {"sharer-killed", by_killed_sharer},
    {"sharer-exec", by_sharer_that_becomes_another},
    {"sharer-vfork", by_vfork},
    {"sharer-survives", by_surviving_sharer},
    {"threads", in_a_thousand_threads},
    {"generations", in_fifty_generations},
};

}  // namespace

int main(int argc, char** argv) {
  arguments = argv;
  if (argc < 2) return 2;
  const bool lists = std::strcmp(argv[1], "list") == 0;
  for (const std::span<const Way> ways : {std::span<const Way>(kWays), memory_ways()}) {
    for (const Way& way : ways) {
      if (lists) std::puts(way.name);
      if (std::strcmp(argv[1], way.name) == 0) return way.run();
    }
  }
  return lists ? 0 : 2;
}
