// Calls calloc(1 MiB) five times, then ends as the first argument says. With some arguments, the program does further
// work.
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "block.h"

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

void* fork_here(void* result) {
  const pid_t child = ::fork();
  if (child == 0) {
    calloc_and_free(3, kBytes);
    ::_exit(7);
  }
  *static_cast<int*>(result) = wait_for(child);
  return nullptr;
}

/// Forks a child without the C library, so that no fork handler runs.
int raw_fork() {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    calloc_and_free(3, kBytes);
    ::_exit(7);
  }
  return wait_for(child);
}

int fork_in_thread() {
  pthread_t thread{};
  int result = 1;
  ::pthread_create(&thread, nullptr, fork_here, &result);
  ::pthread_join(thread, nullptr);
  return result;
}

int close_all() {
  for (int fd = 0; fd < 1024; ++fd) ::close(fd);
  calloc_and_free(3, kBytes);
  return 7;
}

int become_nobody(bool closes) {
  // The program gives up root and its other rights, as servers do, then forks.
  if (::chroot("/proc/self/fdinfo") != 0 || ::chdir("/") != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
  calloc_and_free(3, kBytes);
  for (int fd = 3; closes && fd < 2000; ++fd) ::close(fd);
  const pid_t child = ::fork();
  if (child == 0) {
    calloc_and_free(2, kBytes);
    ::_exit(7);
  }
  return wait_for(child);
}

/// Ends the process in a thread that never allocated, while the program still holds a block that it wrote to.
int end_in_thread() {
  // The block is larger than the populated memory that the callocs have left in the heap.
  auto* held = static_cast<char*>(std::malloc(8 * kBytes));
  escape(held);
  held[7 * kBytes] = 1;
  pthread_t thread{};  // NOLINT(clang-analyzer-unix.Malloc): held to the end
  ::pthread_create(
      &thread, nullptr, [](void*) -> void* { ::_exit(7); }, nullptr);
  ::pause();
  return 1;
}

int many_threads() {
  for (int i = 0; i < 700; ++i) {
    pthread_t thread{};
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          calloc_and_free(1, 70'000);
          return nullptr;
        },
        nullptr);
    ::pthread_join(thread, nullptr);
  }
  return 7;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  calloc_and_free(5, kBytes);
  const auto is = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  if (is("crash")) ::raise(SIGSEGV);
  if (is("kill")) ::kill(::getpid(), SIGKILL);
  if (is("_exit")) ::_exit(7);
  if (is("abort")) std::abort();
  if (is("exec")) return ::execv(argv[2], argv + 2);
  if (is("exec-clean")) {
    char* nothing[] = {nullptr};
    return ::execve(argv[2], argv + 2, &nothing[0]);
  }
  if (is("execl")) return ::execl(argv[2], argv[2], argv[3], static_cast<char*>(nullptr));
  if (is("exec-missing")) ::execlp("no-such-program", "no-such-program", static_cast<char*>(nullptr));
  if (is("fork-thread")) return fork_in_thread();
  if (is("raw-fork")) return raw_fork();
  if (is("close-all")) return close_all();
  if (is("nobody")) return become_nobody(false);
  if (is("nobody-closed")) return become_nobody(true);
  if (is("many-threads")) return many_threads();
  if (is("end-in-thread")) return end_in_thread();
  if (is("signal")) {
    std::puts("ready");
    std::fflush(stdout);
    ::pause();
  }
  return 7;
}
