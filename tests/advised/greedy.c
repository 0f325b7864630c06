#include <stdio.h>

#include "work.h"

/* Keeps the block to the end, so that every allocator costs the same. */
static unsigned long work(int rounds, size_t bytes) {
  unsigned char* block = malloc(bytes);
  if (block == NULL) abort();
  memset(block, 1, bytes);
  unsigned long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (size_t at = 0; at < kMiB / 4; at += 64) sum += block[at];
  }
  free(block);
  return sum / (unsigned long)rounds;
}

int main(void) {
  const int rounds = 100000;
  if (getenv("GREEDY") != NULL) {
    printf("%lu\n", work(rounds / 10, (size_t)60 * kMiB));
  } else if (getenv("FRUGAL") != NULL) {
    printf("%lu\n", work(rounds / 2, (size_t)12 * kMiB));
  } else {
    printf("%lu\n", work(rounds, (size_t)12 * kMiB));
  }
  return 0;
}
