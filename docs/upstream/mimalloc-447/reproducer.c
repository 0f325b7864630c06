/* microsoft/mimalloc#447: twenty buffers of 5 to 25 MiB; a random one is replaced, and the new one is cleared.
 * cc -O2 reproducer.c -o reproducer && LD_PRELOAD=libmimalloc.so ./reproducer [MiB] [rounds]
 * MiB is the smallest buffer (5); the largest is five times that. Prints how many of the pages that were cleared had to be
 * faulted in. Exit status 1: most of them, once every buffer exists; 0: fewer. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#define BUFFERS 20

static unsigned long long state = 447;
static unsigned next(unsigned below) { /* the same sizes in each run, whatever the C library */
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

int main(int argc, char **argv) {
  unsigned smallest = (unsigned)(argc > 1 ? atol(argv[1]) : 5) << 20;
  int rounds = argc > 2 ? atoi(argv[2]) : 1000;
  char *buffers[BUFFERS] = {NULL};
  long pages = 0;
  struct rusage before, after;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* a fault is a page */
  getrusage(RUSAGE_SELF, &before);
  for (int i = -BUFFERS; i < rounds; i++) {
    unsigned which = i < 0 ? (unsigned)(i + BUFFERS) : next(BUFFERS), size = smallest + next(4 * smallest + 1);
    if (i == 0) getrusage(RUSAGE_SELF, &before), pages = 0; /* all twenty exist */
    char *fresh = malloc(size); /* std::make_unique<char[]>(size): the new buffer is made before the old one is freed */
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
