/* pola-rs/polars#23128, as the toy example of #18088: one column after the other is allocated, filled and freed.
 * cc -O2 reproducer.c -o reproducer && LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=muzzy_decay_ms:0 ./reproducer [MiB] [rounds]
 * A column of MiB (default 8) is allocated and filled rounds (default 1000) times.
 * Exit status: 1 if most pages of the column are faulted in again in each round, else 0. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

int main(int argc, char **argv) {
  size_t size = (size_t)(argc > 1 ? atol(argv[1]) : 8) << 20;
  int rounds = argc > 2 ? atoi(argv[2]) : 1000;
  struct rusage before, after;
  struct timespec from, to;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so each fault populates one page */
  getrusage(RUSAGE_SELF, &before);
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = 0; i < rounds; i++) {
    char *column = malloc(size);
    if (column == NULL) return 2;
    memset(column, 1, size);
    __asm__ volatile("" : : "r"(column) : "memory");
    free(column);
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  getrusage(RUSAGE_SELF, &after);
  long faults = after.ru_minflt - before.ru_minflt, pages = (long)(size / 4096) * rounds;
  double us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
  printf("%d rounds of %zu MiB: %ld pages, %ld page faults, %.1f us a round\n", rounds, size >> 20, pages, faults, us / rounds);
  return 2 * faults >= pages;
}
