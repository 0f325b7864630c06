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
static size_t page; /* bytes */

/* Returns the page faults of one round: calloc, write a byte to each page, and free. */
static long one_round(const char *what) {
  struct rusage before, after;
  struct timespec from, to;
  getrusage(RUSAGE_SELF, &before);
  clock_gettime(CLOCK_MONOTONIC, &from);
  volatile char *block = calloc(1, SIZE);
  if (block == NULL) exit(2);
  for (size_t at = 0; at < SIZE; at += page) block[at] = 1;
  free((void *)block);
  clock_gettime(CLOCK_MONOTONIC, &to);
  getrusage(RUSAGE_SELF, &after);
  double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
  printf("%-22s %8ld page faults %10.3f ms\n", what, after.ru_minflt - before.ru_minflt, ms);
  return after.ru_minflt - before.ru_minflt;
}

int main(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* one page per fault */
  free(malloc(1));                       /* initializes the allocator */
  long pages = (long)(SIZE / page), fresh = one_round("first round (fresh)"), again = 0;
  for (int i = 2; i <= 9; i++) again = one_round(i == 2 ? "second round" : "later round (reused)");
  int shows = @SHOWS@;
  printf("%ld pages, %ld/%ld faults: %s\n", pages, fresh, again, shows ? "@CLAIM@" : "does not show");
  return shows;
}
