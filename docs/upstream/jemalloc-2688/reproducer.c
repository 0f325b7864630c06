/* jemalloc/jemalloc#2688: after all memory was freed, how much is still resident, and when does it go?
 * cc -O2 reproducer.c -o reproducer
 * LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:10 ./reproducer [MiB] [rounds]
 * MiB is freed in blocks of 64 KiB (512); then come rounds (200) of 10 ms each, in which a small block is allocated and freed,
 * which the thread's cache serves. Exit status 1: more than a tenth stays resident to the end; 0: less. */
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
  /* the table of blocks is kept: to free it would purge the rest */
  return later > held / 10;
}
