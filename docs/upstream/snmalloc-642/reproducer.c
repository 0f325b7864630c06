/* microsoft/snmalloc#642: does calloc zero a reused block by returning its pages to the kernel, or by memset?
 * cc -O2 reproducer.c -o reproducer && LD_PRELOAD=libsnmallocshim.so ./reproducer [MiB] [rounds]
 * The sizes are 16 KiB and its doubles, up to MiB (default 4). The program writes to each block and frees it, so that the next
 * calloc must zero it.
 * Exit status: 1 if the pages of some size are faulted in again in each round, else 0. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

int main(int argc, char **argv) {
  size_t largest = (size_t)(argc > 1 ? atol(argv[1]) : 4) << 20;
  int rounds = argc > 2 ? atoi(argv[2]) : 200, shows = 0;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so each fault populates one page */
  for (size_t size = 16384; size <= largest; size *= 2) {
    struct rusage before, after;
    struct timespec from, to;
    long faults = 0;
    double us = 0;
    for (int i = -8; i < rounds; i++) { /* the first eight rounds are not counted */
      getrusage(RUSAGE_SELF, &before);
      clock_gettime(CLOCK_MONOTONIC, &from);
      volatile char *block = calloc(1, size);
      if (block == NULL) return 2;
      for (size_t at = 0; at < size; at += 4096) block[at] = 1;
      free((void *)block);
      clock_gettime(CLOCK_MONOTONIC, &to);
      getrusage(RUSAGE_SELF, &after);
      if (i < 0) continue;
      faults += after.ru_minflt - before.ru_minflt;
      us += (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
    }
    long pages = (long)(size / 4096) * rounds;
    printf("%8zu KiB: %ld of %ld pages faulted in again, %.2f us a round\n", size >> 10, faults, pages, us / rounds);
    shows |= 2 * faults >= pages;
  }
  puts(shows ? "pages are given back to be zeroed" : "does not show: blocks are cleared where they are");
  return shows;
}
