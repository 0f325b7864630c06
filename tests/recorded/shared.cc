// Shares 2,000 pages with a child, and writes to them as the first argument says. The pages lie at a fixed address. For
// each argument, a table contains the numbers of pages that each process copies, reuses and has zero-filled.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::size_t kPages = 2000;
constexpr std::size_t kWritten = 700;
char* memory = nullptr;
char** arguments = nullptr;

void write_pages(std::size_t from = 0, std::size_t count = kWritten) {
  for (std::size_t i = from; i < from + count; ++i) *static_cast<volatile char*>(memory + i * kPage) = 2;
}

char* map(std::size_t bytes, int flags) {
  void* at = reinterpret_cast<void*>(0x100000000000);
  void* begin = ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (begin != at || ::madvise(begin, bytes, MADV_NOHUGEPAGE) != 0) ::_exit(3);
  return static_cast<char*>(begin);
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, __WALL) != child) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

template <typename Run>
int in_child(Run run) {
  const pid_t child = ::fork();
  if (child == 0) {
    run();
    ::_exit(0);
  }
  return wait_for(child);
}

int copies() {
  return in_child([] { write_pages(); });
}

int killed() {
  return in_child([] {
    write_pages();
    ::raise(SIGKILL);
  });
}

int stopped() {
  const pid_t child = ::fork();
  if (child == 0) {
    write_pages(0, 300);
    ::raise(SIGSTOP);
    write_pages(300, kWritten - 300);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  ::kill(child, SIGCONT);
  return wait_for(child);
}

int raw_exit() {
  return in_child([] {
    write_pages();
    ::syscall(SYS_exit_group, 0);
  });
}

int in_thread_of_child() {
  return in_child([] {
    static char stack[1 << 16];
    const auto run = [](void*) -> int {
      write_pages();
      ::syscall(SYS_exit, 0);
      return 0;
    };
    const pid_t thread = ::clone(run, &stack[sizeof stack], CLONE_VM | SIGCHLD, nullptr);
    wait_for(thread);
  });
}

int same_memory() {
  // The child runs in the same memory, not in a copy, so nothing is copied.
  static char stack[1 << 16];
  const auto run = [](void*) -> int {
    write_pages();
    ::syscall(SYS_exit, 0);
    return 0;
  };
  return wait_for(::clone(run, &stack[sizeof stack], CLONE_VM | SIGCHLD, nullptr));
}

int borrowed() {
  const pid_t child = ::vfork();
  if (child == 0) {
    write_pages();  // NOLINT(clang-analyzer-unix.Vfork): that is what is tested
    ::_exit(0);
  }
  return wait_for(child);
}

int grandchild() {
  return in_child([] { ::_exit(in_child([] { write_pages(); })); });
}

int generations() {
  // Each child copies pages that its parent has already copied.
  return in_child([] {
    write_pages();
    ::_exit(in_child([] { write_pages(); }));
  });
}

int not_forked() {
  ::madvise(memory, kPages * kPage, MADV_DONTFORK);
  return in_child([] {});
}

int wiped() {
  ::madvise(memory, kPages * kPage, MADV_WIPEONFORK);
  return in_child([] { write_pages(); });
}

int dropped_first() {
  return in_child([] {
    ::madvise(memory, kWritten * kPage, MADV_DONTNEED);
    write_pages();
  });
}

int read_only() {
  return in_child([] {
    for (std::size_t i = 0; i < kPages; ++i) static_cast<void>(*static_cast<volatile char*>(memory + i * kPage));
  });
}

int protected_first() {
  return in_child([] {
    ::mprotect(memory, kPages * kPage, PROT_READ);
    ::mprotect(memory, kPages * kPage, PROT_READ | PROT_WRITE);
    write_pages();
  });
}

int by_the_kernel() {
  return in_child([] {
    const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (::read(zero, memory, kWritten * kPage) != static_cast<ssize_t>(kWritten * kPage)) ::_exit(3);
  });
}

int from_outside() {
  // The parent writes into the child's memory, like a debugger.
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  static char byte = 2;
  for (std::size_t i = 0; i < kWritten; ++i) {
    const iovec from{&byte, 1};
    const iovec to{memory + i * kPage, 1};
    if (::process_vm_writev(child, &from, 1, &to, 1, 0) != 1) return 77;
  }
  ::kill(child, SIGKILL);
  return wait_for(child);
}

int exec_after() {
  return in_child([] {
    write_pages();
    ::execl("/bin/true", "true", static_cast<char*>(nullptr));
  });
}

int exec_before() {
  // The pages now belong to another program, for which the kernel zero-fills them.
  return in_child([] { ::execl("/proc/self/exe", arguments[0], "fresh", static_cast<char*>(nullptr)); });
}

int fresh() { return 0; }

int moved() {
  return in_child([] {
    void* to = reinterpret_cast<void*>(0x200000000000);
    if (::mremap(memory, kPages * kPage, kPages * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to) ::_exit(3);
    memory = static_cast<char*>(to);
    write_pages();
  });
}

int in_handler() {
  return in_child([] {
    ::signal(SIGUSR1, [](int) { write_pages(); });
    ::raise(SIGUSR1);
  });
}

int in_pid_namespace() {
  if (::unshare(::geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWUSER | CLONE_NEWPID) != 0) return 77;
  return copies();
}

int renamed() {
  return in_child([] {
    ::prctl(PR_SET_NAME, "a\"b\\c\nd) S 1", 0, 0, 0);
    write_pages();
  });
}

int orphaned() {
  int ends[2];
  char byte = 0;
  if (::pipe(&ends[0]) != 0) return 3;
  in_child([&] {
    if (::fork() == 0) {
      write_pages();
      ::_exit(::write(ends[1], &byte, 1) == 1 ? 0 : 3);
    }
  });
  ::close(ends[1]);
  const ssize_t got = ::read(ends[0], &byte, 1);
  ::usleep(50'000);
  return got == 1 ? 0 : 3;
}

int by_memset() {
  return in_child([] { std::memset(memory, 0, kWritten * kPage); });
}

int many() {
  for (int i = 0; i < 70; ++i) in_child([=] { write_pages(static_cast<std::size_t>(i) * 10, 10); });
  return 0;
}

struct Way {
  const char* name;
  int (*run)();
};

constexpr Way kWays[] = {
    {"copies", copies},
    {"killed", killed},
    {"stopped", stopped},
    {"raw-exit", raw_exit},
    {"thread", in_thread_of_child},
    {"same-memory", same_memory},
    {"vfork", borrowed},
    {"grandchild", grandchild},
    {"generations", generations},
    {"not-forked", not_forked},
    {"wiped", wiped},
    {"dropped", dropped_first},
    {"read-only", read_only},
    {"protected", protected_first},
    {"by-kernel", by_the_kernel},
    {"from-outside", from_outside},
    {"exec-after", exec_after},
    {"exec-before", exec_before},
    {"fresh", fresh},
    {"moved", moved},
    {"handler", in_handler},
    {"pid-namespace", in_pid_namespace},
    {"renamed", renamed},
    {"orphaned", orphaned},
    {"memset", by_memset},
    {"many", many},
};

}  // namespace

int main(int argc, char** argv) {
  arguments = argv;
  if (argc < 2) return 2;
  // A page that was last written on another CPU stays in that CPU's list of new pages for a while, and is copied for
  // this reason alone.
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &cpus);
  ::sched_setaffinity(0, sizeof cpus, &cpus);
  for (const Way& way : kWays) {
    if (std::strcmp(argv[1], "list") == 0) std::puts(way.name);
    if (std::strcmp(argv[1], way.name) != 0) continue;
    memory = map(kPages * kPage, MAP_PRIVATE);
    write_pages(0, kPages);
    return way.run();
  }
  return std::strcmp(argv[1], "list") == 0 ? 0 : 2;
}
