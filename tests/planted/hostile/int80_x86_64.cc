// Gets its process ID by the system call of i386 programs, whose number means a different call on x86-64. Then calls
// memset.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "hostile.h"

namespace {

int ask() {
  int result = 20;  // getpid of i386, writev of x86-64
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result;
}

/// Whether the kernel supports i386 system calls. Tests this in a child, because a kernel without support kills the
/// process that tries.
bool is_emulated() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(ask() == ::getpid() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

bool emulated = false;
[[gnu::constructor]] void look() { emulated = is_emulated(); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    if (emulated && ask() != ::getpid()) std::abort();
    memset(block, 0, size);
  });
}
