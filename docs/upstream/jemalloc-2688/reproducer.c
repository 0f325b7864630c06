/* jemalloc/jemalloc#2688: how much memory stays resident after all of it was freed, and for how long?
 * cc -O2 reproducer.c -o reproducer
 * LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:10 ./reproducer [MiB] [rounds]
 * The program frees MiB (default 512) in blocks of 64 KiB. In each of the rounds (default 200) of 10 ms, it then allocates and
 * frees a small block, which the thread's cache serves.
 * Exit status: 1 if more than a tenth of the memory stays resident to the end, else 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define BLOCK (64UL << 10)

static long resident_mib(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE) >> 20;
}

int main(int argc, char **argv) {
  long mib = argc > 1 ? atol(argv[1]) : 512, rounds = argc > 2 ? atol(argv[2]) : 200;
  size_t count = ((size_t)mib << 20) / BLOCK;
  char **blocks = malloc(count * sizeof *blocks);
  if (blocks == NULL) return 2;
  for (size_t i = 0; i < count; i++) {
    if ((blocks[i] = malloc(BLOCK)) == NULL) return 2;
    memset(blocks[i], 1, BLOCK);
  }
  long held = resident_mib();
  for (size_t i = 0; i < count; i++) free(blocks[i]);
  long freed = resident_mib();
  for (long i = 0; i < rounds; i++) {
    void *small = malloc(64);
    __asm__ volatile("" : : "r"(small) : "memory");
    free(small);
    usleep(10000);
  }
  long later = resident_mib();
  printf("resident: %ld MiB before free, %ld MiB after it, %ld MiB %ld ms later\n", held, freed, later, rounds * 10);
  /* The table of blocks is not freed, because that would purge the remaining pages. */
  return later > held / 10;
}
