#include <stdio.h>

#include "work.h"

static unsigned long parse(int rounds) {
  unsigned long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const size_t bytes = (size_t)100 << 10;
    char* block = malloc(bytes);
    if (block == NULL) abort();
    memset(block, 0, bytes);
    block[round % 1000] = 1;
    sum += (unsigned char)block[round % 1000];
    free(block);
  }
  return sum;
}

int main(void) {
  printf("%lu\n", parse(20000));
  return 0;
}
