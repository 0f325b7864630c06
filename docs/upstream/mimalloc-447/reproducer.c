/* microsoft/mimalloc#447: each round replaces a random one of twenty buffers of 5 to 25 MiB, and clears the new buffer.
 * cc -O2 reproducer.c -o reproducer && LD_PRELOAD=libmimalloc.so ./reproducer [MiB] [rounds]
 * The smallest buffer has MiB (default 5), and the largest is five times as large. The program prints the number of cleared
 * pages, and the number of page faults.
 * Exit status: 1 if most pages had to be faulted in after all buffers existed, else 0. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#define BUFFERS 20

static unsigned long long state = 447;
static unsigned next(unsigned below) { /* gives the same sizes in each run with any C library */
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

int main(int argc, char **argv) {
  unsigned smallest = (unsigned)(argc > 1 ? atol(argv[1]) : 5) << 20;
  int rounds = argc > 2 ? atoi(argv[2]) : 1000;
  char *buffers[BUFFERS] = {NULL};
  long pages = 0;
  struct rusage before, after;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so each fault populates one page */
  getrusage(RUSAGE_SELF, &before);
  for (int i = -BUFFERS; i < rounds; i++) {
    unsigned which = i < 0 ? (unsigned)(i + BUFFERS) : next(BUFFERS), size = smallest + next(4 * smallest + 1);
    if (i == 0) getrusage(RUSAGE_SELF, &before), pages = 0; /* from now on, all twenty buffers exist */
    char *fresh = malloc(size); /* as std::make_unique: the new buffer is made before the old buffer is freed */
    if (fresh == NULL) return 2;
    memset(fresh, 0, size);
    __asm__ volatile("" : : "r"(fresh) : "memory");
    free(buffers[which]);
    buffers[which] = fresh;
    pages += size / 4096;
  }
  getrusage(RUSAGE_SELF, &after);
  long faults = after.ru_minflt - before.ru_minflt;
  int shows = 2 * faults >= pages;
  printf("%d buffers replaced, %ld pages cleared, %ld page faults: %s\n", rounds, pages, faults,
         shows ? "most of the memory came anew from the kernel" : "does not show");
  return shows;
}
