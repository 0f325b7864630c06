// Spends its CPU time in known functions: main, outer, inner. `busy fork` spends the time in a child. `busy exec`
// spends the time after the program has executed itself again.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

extern "C" {

__attribute__((noinline)) unsigned long inner_loop(double seconds) {
  volatile unsigned long sum = 0;
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  while (std::clock() < end) {
    for (unsigned i = 0; i < 100'000; ++i) sum = sum + i;
  }
  return sum;
}

__attribute__((noinline)) unsigned long outer_loop(double seconds) {
  const unsigned long sum = inner_loop(seconds);
  asm volatile("" ::: "memory");
  return sum;
}

}  // extern "C"

int main(int count, char** words) {
  const bool forks = count > 1 && std::strcmp(words[1], "fork") == 0;
  if (count > 1 && std::strcmp(words[1], "exec") == 0) ::execl(words[0], words[0], nullptr);
  if (forks && ::fork() != 0) {
    ::wait(nullptr);
    return 5;
  }
  outer_loop(0.4);
  std::puts("done");
  return 5;
}
