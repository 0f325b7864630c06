// Ends its process, or closes descriptors of the process, as the variable PLANTED_DIES says: PLACE:OPERATION:WAY.
// Example: calloc:7:_exit. Places: constructor, calloc, free, touch (the program's first write to the block),
// thread_end (the end of the worker thread, after the last operation). die() lists the ways. Without the variable,
// planted_dies is a correct allocator that never writes zeros.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "../core.h"

namespace {

char place[32];
char way[32];
int operation = 0;
std::atomic<int> callocs = 0;
std::atomic<int> frees = 0;

/// Closes the descriptor of the measurement's sample block, and unmaps that block.
void lose_samples() {
  ::close_range(3, ~0U, 0);
  const int maps = ::open("/proc/self/maps", O_RDONLY);
  static char text[1 << 20];
  std::size_t used = 0;
  for (ssize_t got = 0; (got = ::read(maps, &text[used], sizeof text - 1 - used)) > 0;)
    used += static_cast<std::size_t>(got);
  ::close(maps);
  for (char* line = &text[0]; line != nullptr && *line != '\0';) {
    char* end = ::strchr(line, '\n');
    if (end != nullptr) *end = '\0';
    unsigned long from = 0;
    unsigned long to = 0;
    if (::strstr(line, "zerotax-samples") != nullptr && ::sscanf(line, "%lx-%lx", &from, &to) == 2)
      ::munmap(reinterpret_cast<void*>(from), to - from);
    line = end == nullptr ? nullptr : end + 1;
  }
}

void* exit_now(void*) { ::_exit(0); }

bool is(const char* each) { return ::strcmp(&way[0], each) == 0; }

void die() {
  if (is("_exit")) ::_exit(0);
  if (is("_exit3")) ::_exit(3);
  if (is("exit")) ::exit(0);
  if (is("quick_exit")) ::quick_exit(0);
  if (is("kill")) ::kill(::getpid(), SIGKILL);
  if (is("stop")) ::raise(SIGSTOP);
  if (is("lose_samples")) lose_samples();
  if (is("close_all")) ::close_range(0, ~0U, 0);
  if (is("close_streams")) ::close_range(0, 2, 0);
  if (is("close_others")) ::close_range(3, ~0U, 0);
  if (is("execve")) {
    const char* argv[] = {"true", nullptr};
    ::execve("/bin/true", const_cast<char**>(&argv[0]), environ);
  }
  if (is("thread")) {
    pthread_t other{};
    ::pthread_create(&other, nullptr, exit_now, nullptr);
    ::pthread_join(other, nullptr);
  }
  if (is("child_goes_on") && ::fork() != 0) ::_exit(0);
  if (is("child_goes_on_awaited")) {
    const pid_t child = ::fork();
    if (child == 0) return;
    ::waitpid(child, nullptr, 0);
    ::_exit(0);
  }
}

bool is_place(const char* each) { return ::strcmp(&place[0], each) == 0; }

void on_fault(int) { die(); }

pthread_key_t at_thread_end;

[[gnu::constructor]] void read_orders() {
  const char* orders = ::getenv("PLANTED_DIES");
  if (orders == nullptr || ::sscanf(orders, "%31[^:]:%d:%31s", &place[0], &operation, &way[0]) != 3) return;
  if (is_place("constructor")) die();
  if (is_place("touch")) ::signal(SIGSEGV, on_fault);
  if (is_place("thread_end")) ::pthread_key_create(&at_thread_end, [](void*) { die(); });
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  const int call = ++callocs;
  if (is_place("calloc") && call == operation) die();
  if (is_place("touch") && call == operation) ::mprotect(block, page_bytes(), PROT_READ);
  if (is_place("thread_end") && call == 1) ::pthread_setspecific(at_thread_end, block);
  return block;
}

void planted::large_free(void* block) {
  if (is_place("free") && ++frees == operation) die();
  unmap_block(block);
}
