/* Allocates, fills and frees 80 blocks of 100 KiB, 300 times. Blocks below 128 KiB are served from glibc's heap. After
 * each round glibc returns the end of the heap to the kernel, unless a setting prevents it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 300, kBlocks = 80, kBytes = 100 << 10 };

int main(void) {
  unsigned long sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    unsigned char* blocks[kBlocks];
    for (int i = 0; i < kBlocks; ++i) {
      blocks[i] = malloc(kBytes);
      if (blocks[i] == NULL) exit(1);
      memset(blocks[i], round + i, kBytes);
    }
    for (int i = 0; i < kBlocks; ++i) {
      sum += blocks[i][(size_t)round * 4096 % kBytes];
      free(blocks[i]);
    }
  }
  printf("%lu\n", sum);
  return 0;
}
