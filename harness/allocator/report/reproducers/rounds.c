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
#define BUFFERS 8
static size_t page; /* bytes */

/* Returns the page faults of one round: allocate the buffers, write a byte to each page, and free all of them. */
static long one_round(const char *what) {
  struct rusage before, after;
  struct timespec from, to;
  getrusage(RUSAGE_SELF, &before);
  clock_gettime(CLOCK_MONOTONIC, &from);
  volatile char *buffers[BUFFERS];
  for (int i = 0; i < BUFFERS; i++) {
    if ((buffers[i] = malloc(SIZE)) == NULL) exit(2);
    for (size_t at = 0; at < SIZE; at += page) buffers[i][at] = 1;
  }
  for (int i = 0; i < BUFFERS; i++) free((void *)buffers[i]);
  clock_gettime(CLOCK_MONOTONIC, &to);
  getrusage(RUSAGE_SELF, &after);
  double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
  printf("%-22s %8ld page faults %10.3f ms\n", what, after.ru_minflt - before.ru_minflt, ms);
  return after.ru_minflt - before.ru_minflt;
}

int main(void) {
  page = (size_t)sysconf(_SC_PAGESIZE), prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* one page per fault */
  long pages = (long)(BUFFERS * (SIZE / page)), fresh = one_round("first round (fresh)"), again = 0;
  for (int i = 2; i <= 9; i++) again = one_round(i == 2 ? "second round" : "later round");
  int shows = @SHOWS@;
  printf("%ld pages, %ld/%ld faults: %s\n", pages, fresh, again, shows ? "@CLAIM@" : "does not show");
  return shows;
}
