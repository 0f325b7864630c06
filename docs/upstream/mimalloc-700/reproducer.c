/* Counts the addresses from aligned_alloc that are not aligned, for sizes that equal the alignment.
 *
 *   cc -O0 -fno-builtin reproducer.c -o reproducer && LD_PRELOAD=./libmimalloc.so ./reproducer */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlocks = 64 };

int main(void) {
  int all = 0;
  for (size_t size = 16; size <= 65536; size *= 2) {
    int wrong = 0;
    for (int i = 0; i < kBlocks; ++i) {
      /* volatile: a compiler may assume that the address is aligned. */
      const volatile uintptr_t address = (uintptr_t)aligned_alloc(size, size);
      wrong += address % size != 0;
    }
    if (wrong != 0) printf("%zu: %d of %d\n", size, wrong, kBlocks);
    all += wrong;
  }
  printf("not aligned: %d\n", all);
  return all != 0;
}
