/* @TITLE@
 * @HOW@ */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#define SIZE @SIZE@UL
static size_t page; /* bytes */

/* Returns the page faults of one calloc. The block is never written to. With `drop`, the block's pages are returned to
 * the kernel before free. These pages still read as zeros, but the next write to each page takes a fault. */
static long call(const char *what, int drop) {
  struct rusage before, after; struct timespec from, to;
  getrusage(RUSAGE_SELF, &before), clock_gettime(CLOCK_MONOTONIC, &from);
  char *block = calloc(1, SIZE);
  __asm__ volatile("" : : "r"(block) : "memory"); /* keeps the compiler from removing the call */
  clock_gettime(CLOCK_MONOTONIC, &to), getrusage(RUSAGE_SELF, &after);
  if (block == NULL) exit(2);
  size_t first = ((size_t)block + page - 1) & -page, last = ((size_t)block + SIZE) & -page;
  if (drop && last > first) madvise((void *)first, last - first, MADV_DONTNEED);
  free(block);
  double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
  printf("%-28s %8ld page faults %10.3f ms\n", what, after.ru_minflt - before.ru_minflt, ms);
  return after.ru_minflt - before.ru_minflt;
}

int main(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), free(malloc(1)); /* one page per fault; initializes the allocator */
  long pages = (long)(SIZE / page), fresh = call("first call (fresh)", 0), again = 0;
  for (int i = 2; i <= 9; i++) again = call(i == 2 ? "second call" : "later call (reused)", i == 9);
  long stores = call("after the pages were dropped", 0);
  int shows = @SHOWS@;
  printf("%ld pages, %ld/%ld/%ld faults: %s\n", pages, fresh, again, stores, shows ? "@CLAIM@" : "does not show");
  return shows; /* 1 if the finding shows, 0 if not */
}
