// Writes to each page of MIB mebibytes, then ends as HOW says. Usage: ended MIB HOW [PROGRAM ...].
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "instructions.h"

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

void fill(std::size_t mib) {
  auto* block = static_cast<char*>(std::malloc(mib << 20));
  for (std::size_t at = 0; at < mib << 20; at += kPage) *static_cast<volatile char*>(block + at) = 1;
}  // NOLINT(clang-analyzer-unix.Malloc): held to the end

/// Ends the process by a system call instruction, as Go's runtime does. No library can replace such a call.
void exit_group_inline() { instructions::system_call(SYS_exit_group, 7); }

int parent_of(std::size_t mib) {
  const pid_t child = ::fork();
  if (child == 0) {
    fill(mib);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 7 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 1;
  const auto mib = static_cast<std::size_t>(std::atol(words[1]));
  const auto is = [&](const char* name) { return std::strcmp(words[2], name) == 0; };
  if (is("killed-child")) return parent_of(mib);
  fill(mib);
  if (is("kill")) ::kill(::getpid(), SIGKILL);
  if (is("quick_exit")) ::quick_exit(7);
  if (is("_exit")) ::_exit(7);
  if (is("exit_group")) ::syscall(SYS_exit_group, 7);
  if (is("exit_group-inline")) exit_group_inline();
  if (is("exec")) ::execv(words[3], words + 3);
  if (is("exec-by-number")) ::syscall(SYS_execve, words[3], words + 3, environ);
  if (is("exec-missing")) {
    ::execl("/no/such/program", "program", static_cast<char*>(nullptr));
    fill(mib);
    exit_group_inline();
  }
  if (is("wait")) {
    std::puts("ready");
    std::fflush(stdout);
    while (true) ::pause();
  }
  return 7;
}
