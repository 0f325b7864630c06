// A library whose function takes page faults. With SECRET, other users must not see the function's name. With HIDDEN,
// only debug information contains this name.
#include <stddef.h>
#include <sys/mman.h>

#ifdef SECRET
#define SPIN secret_marker
#else
#define SPIN hostile_spin
#endif

#ifdef HIDDEN
static
#endif
    __attribute__((noinline)) void
    SPIN(int times) {
  for (int round = 0; round < times; ++round) {
    char* memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1 << 20; i += 4096) memory[i] = 1;
    munmap(memory, 1 << 20);
  }
}

void enter(int times) { SPIN(times); }
