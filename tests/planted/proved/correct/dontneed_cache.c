/* free returns the pages of a large block at once by MADV_DONTNEED, and keeps the address range as zero memory. */
#include "core.h"

void freed(struct block* block, struct block* given) {
  (void)given;
  if (is_large(block)) purge(block, 0);
}
