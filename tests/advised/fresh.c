// Writes to each page of 48 new blocks of 4 MiB, and then frees all blocks. No block is reused, so only a remedy with
// fewer faults makes the program cheaper.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { kBlocks = 48 };
  const size_t size = 4 << 20;
  unsigned long sum = 0;
  char *blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = malloc(size);
    if (blocks[i] == NULL) return 1;
    for (size_t at = 0; at < size; at += 4096) blocks[i][at] = (char)i;
    sum += (unsigned char)blocks[i][size / 2];
  }
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  printf("%lu\n", sum);
  return 0;
}
