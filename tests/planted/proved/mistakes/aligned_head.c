/* free of a large aligned block returns the pages from the aligned address on, and marks the whole block as zero. The
   pages before the aligned address hold the header of the aligned block, and are part of the block that calloc
   reuses. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

void freed(struct block* block, struct block* given) {
  if (!is_large(block) || given == block) return;
  char* first = data_of(block) + page_ceiling((size_t)(data_of(given) - data_of(block)));
  char* end = data_of(block) + page_ceiling(block->dirty);
  if (first < end && madvise(first, (size_t)(end - first), MADV_DONTNEED) == 0) block->dirty = 0;
}
