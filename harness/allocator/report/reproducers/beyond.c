/* @TITLE@
 * @HOW@ */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#define SIZE @SIZE@UL

/* Returns the page faults of one calloc, which show the pages that calloc itself writes to. The block is neither
   touched nor freed. */
static long call(const char *what) {
  struct rusage before, after;
  struct timespec from, to;
  getrusage(RUSAGE_SELF, &before);
  clock_gettime(CLOCK_MONOTONIC, &from);
  char *block = calloc(1, SIZE);
  __asm__ volatile("" : : "r"(block) : "memory"); /* keeps the compiler from removing the call */
  clock_gettime(CLOCK_MONOTONIC, &to);
  getrusage(RUSAGE_SELF, &after);
  if (block == NULL) exit(2);
  double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
  printf("%-12s %8ld page faults %10.3f ms\n", what, after.ru_minflt - before.ru_minflt, ms);
  return after.ru_minflt - before.ru_minflt;
}

int main(void) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* one page per fault */
  free(malloc(1));                       /* initializes the allocator */
  long page = sysconf(_SC_PAGESIZE), pages = ((long)SIZE + page - 1) / page, fewest = call("first call");
  for (int i = 2; i <= 9; i++) {
    long faults = call("later call");
    if (faults < fewest) fewest = faults; /* some calls also need pages for the allocator itself */
  }
  int shows = fewest >= pages + (pages < 32 ? 2 : pages / 16);
  printf("%ld pages asked for, %ld written: %s\n", pages, fewest, shows ? "@CLAIM@" : "does not show");
  return shows; /* 1 if the finding shows, 0 if not */
}
