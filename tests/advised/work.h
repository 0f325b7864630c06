#pragma once

#include <stdlib.h>
#include <string.h>

enum { kMiB = 1 << 20 };

/* Fills and frees eight blocks of 1 MiB. The blocks are at the end of the heap, so glibc returns the blocks to the
   kernel in each round. */
static inline unsigned long refill(int rounds) {
  unsigned long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    char* blocks[8];
    for (int i = 0; i < 8; ++i) {
      blocks[i] = malloc(kMiB);
      if (blocks[i] == NULL) abort();
      for (size_t at = 0; at < kMiB; at += 4096) blocks[i][at] = (char)(round + i);
    }
    for (int i = 0; i < 8; ++i) {
      sum += (unsigned char)blocks[i][(size_t)round * 4096 % kMiB];
      free(blocks[i]);
    }
  }
  return sum;
}
