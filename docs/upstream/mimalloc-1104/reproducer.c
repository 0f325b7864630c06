/* microsoft/mimalloc#1104: does calloc of 1 GB write to a block that is already zero?
 * cc -O2 reproducer.c -o reproducer && LD_PRELOAD=libmimalloc.so ./reproducer [MiB] [rounds]
 * Exit status: 1 if most of an untouched block was resident after calloc, else 0. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long resident_kib(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) exit(2);
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
  size_t size = (size_t)(argc > 1 ? atol(argv[1]) : 954) << 20;
  int rounds = argc > 2 ? atoi(argv[2]) : 5, shows = 0;
  for (int i = 0; i < rounds; i++) {
    struct timespec from, to;
    long before = resident_kib();
    clock_gettime(CLOCK_MONOTONIC, &from);
    void *block = calloc(1, size);
    __asm__ volatile("" : : "r"(block) : "memory"); /* prevents the compiler from removing the allocation */
    clock_gettime(CLOCK_MONOTONIC, &to);
    long grown = resident_kib() - before;
    if (block == NULL) return 2;
    free(block);
    double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    printf("calloc %d of %zu MiB: %ld KiB more resident, %.3f ms\n", i + 1, size >> 20, grown, ms);
    shows |= grown >= (long)(size >> 11); /* half of the block */
  }
  puts(shows ? "calloc wrote to memory fresh from the kernel" : "does not show");
  return shows;
}
