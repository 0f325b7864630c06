#include <stdio.h>

#include "work.h"

int main(void) {
  unsigned long sum = 0;
  for (int round = 0; round < 20; ++round) {
    const size_t bytes = (size_t)24 * kMiB;
    char* block = calloc(bytes, 1);
    if (block == NULL) return 1;
    block[(size_t)round * 4096] = 1;
    sum += (unsigned char)block[(size_t)round * 4096] + (unsigned char)block[bytes - 1];
    free(block);
  }
  printf("%lu\n", sum);
  return 0;
}
