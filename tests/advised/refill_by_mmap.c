#include <stdio.h>

#include "work.h"

int main(void) {
  unsigned long sum = 0;
  for (int round = 0; round < 40; ++round) {
    const size_t bytes = (size_t)48 * kMiB;
    char* block = malloc(bytes);
    if (block == NULL) return 1;
    for (size_t at = 0; at < bytes / 4; at += 4096) block[at] = (char)round;
    sum += (unsigned char)block[bytes / 8];
    free(block);
  }
  printf("%lu\n", sum);
  return 0;
}
