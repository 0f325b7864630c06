/* uxlfoundation/oneTBB#178: page faults of a scalable_calloc that clears memory fresh from the kernel.
 * cc -O2 reproducer.c -o reproducer && LD_PRELOAD=libtbbmalloc_proxy.so.2 ./reproducer [MiB] [rounds]
 * Exit status: 1 if calloc faulted in most pages of an untouched block, else 0. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

int main(int argc, char **argv) {
  size_t size = (size_t)(argc > 1 ? atol(argv[1]) : 1024) << 20;
  int rounds = argc > 2 ? atoi(argv[2]) : 5, shows = 0;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so each fault populates one page */
  free(malloc(1));                       /* sets up the allocator, as in the report */
  for (int i = 0; i < rounds; i++) {
    struct rusage before, after;
    struct timespec from, to;
    getrusage(RUSAGE_SELF, &before);
    clock_gettime(CLOCK_MONOTONIC, &from);
    volatile char *block = calloc(1, size);
    if (block == NULL) return 2;
    block[1234] = 1; /* writes one byte, as in the report */
    clock_gettime(CLOCK_MONOTONIC, &to);
    getrusage(RUSAGE_SELF, &after);
    long faults = after.ru_minflt - before.ru_minflt;
    free((void *)block);
    double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    printf("calloc %d of %zu MiB: %ld page faults, %.3f ms\n", i + 1, size >> 20, faults, ms);
    shows |= faults >= (long)(size >> 13); /* half of the block's pages of 4 KiB */
  }
  puts(shows ? "calloc wrote to memory fresh from the kernel" : "does not show");
  return shows;
}
