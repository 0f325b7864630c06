/* numpy/numpy#31590, without numpy: MADV_HUGEPAGE on a block of the heap outlives the block.
 * cc -O2 reproducer.c -o reproducer && ./reproducer [MiB] [rounds]
 * The program advises a block of MiB (default 8) and frees it, as numpy's alloc.c does. Blocks of 1 MiB then fill the block's
 * place, and the program writes one byte to each, rounds (default 1) times.
 * /sys/kernel/mm/transparent_hugepage/enabled must be madvise.
 * Exit status: 1 if these few bytes made more than 2 MiB resident, else 0. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static long resident_kib(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) exit(2);
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long grown_by(size_t mib, int advise, int rounds) {
  char *later[64];
  size_t count = mib > 64 ? 63 : mib - 1;
  char *block = malloc(mib << 20);
  if (block == NULL) exit(2);
  uintptr_t first = ((uintptr_t)block + 4095) & ~4095UL;
  if (advise) madvise((void *)first, (mib << 20) - 4096, MADV_HUGEPAGE);
  void *pin = malloc(100000); /* prevents the heap from being trimmed */
  __asm__ volatile("" : : "r"(block), "r"(pin) : "memory");
  free(block);
  long before = resident_kib();
  for (int i = 0; i < rounds; i++) {
    for (size_t each = 0; each < count; each++) {
      if ((later[each] = malloc(1UL << 20)) == NULL) exit(2);
      *(volatile char *)later[each] = 1;
    }
    if (i + 1 == rounds) break;
    for (size_t each = 0; each < count; each++) free(later[each]);
  }
  return resident_kib() - before;
}

int main(int argc, char **argv) {
  size_t mib = (size_t)(argc > 1 ? atol(argv[1]) : 8);
  int rounds = argc > 2 ? atoi(argv[2]) : 1;
  if (mib < 2) mib = 2;
  mallopt(M_MMAP_THRESHOLD, 1 << 30); /* blocks come from the heap, as after the first free of a large array */
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  long plain = grown_by(mib, 0, rounds), advised = grown_by(mib, 1, rounds);
  printf("one byte in each of %zu blocks of 1 MiB: %ld KiB resident, after an advised array %ld KiB\n", mib - 1, plain, advised);
  return advised - plain > 2048;
}
