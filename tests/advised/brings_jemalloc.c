// A program that is linked with jemalloc. Its blocks of 9 MiB exceed jemalloc's oversize threshold, so jemalloc returns
// them to the kernel in each free.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const size_t size = 9 << 20;
  unsigned long sum = 0;
  for (int round = 0; round < 60; ++round) {
    volatile char* block = malloc(size);
    if (block == NULL) return 1;
    for (size_t at = 0; at < size; at += 4096) block[at] = (char)round;
    sum += (unsigned char)block[size / 2];
    free((void*)block);
  }
  printf("%lu\n", sum);
  return 0;
}
