#include <stdio.h>

#include "work.h"

/* With BREAKS=1, the program ends like one that cannot be loaded. With HUNGRY=1, it takes almost unlimited memory. */
int main(void) {
  if (getenv("BREAKS") != NULL) {
    fputs("fragile: cannot be loaded\nfragile: giving up\n", stderr);
    return 127;
  }
  const size_t most = getenv("HUNGRY") != NULL ? (size_t)800 * kMiB : (size_t)8 * kMiB;
  unsigned long sum = 0;
  for (size_t had = 0; had < most; had += kMiB) {
    char* block = malloc(kMiB);
    if (block == NULL) abort();
    memset(block, 1, kMiB);
    sum += (unsigned long)block[sum % kMiB];
  }
  return sum == 0;
}
