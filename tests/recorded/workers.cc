// Forks WORKERS workers that live at the same time. Usage: workers WORKERS. Each worker writes one page that it shares
// with the parent, at a fixed address, and waits for the parent. The parent prints "ready" when all workers wait, and
// lets them continue when the parent's input ends.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** words) {
  if (count < 2) return 2;
  const unsigned long workers = std::strtoul(words[1], nullptr, 10);
  void* fixed = reinterpret_cast<void*>(0x100000000000);
  void* memory = ::mmap(fixed, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) return 3;
  auto* page = static_cast<volatile char*>(memory);
  *page = 1;
  int ready[2];
  int go[2];
  if (::pipe(ready) != 0 || ::pipe(go) != 0) return 3;
  for (unsigned long i = 0; i < workers; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return 4;
    if (child > 0) continue;
    ::close(go[1]);
    *page = 2;
    char byte = 0;
    if (::write(ready[1], "", 1) != 1) _exit(5);
    _exit(::read(go[0], &byte, 1) == 0 ? 0 : 6);
  }
  char byte = 0;
  for (unsigned long i = 0; i < workers; ++i) {
    if (::read(ready[0], &byte, 1) != 1) return 5;
  }
  std::puts("ready");
  std::fflush(stdout);
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  ::close(go[1]);
  int bad = 0;
  for (int status = 0; ::wait(&status) > 0;) bad += status != 0 ? 1 : 0;
  return bad == 0 ? 0 : 7;
}
