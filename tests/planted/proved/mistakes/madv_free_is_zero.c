/* A purge uses MADV_FREE, and marks the block as zero, while the pages keep their contents until memory is short.
   jemalloc calls such pages muzzy and clears them. An allocator that moved from MADV_DONTNEED to MADV_FREE must drop
   the mark. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

void purge(struct block* block, size_t keep) {
  const size_t end = page_ceiling(block->dirty);
  if (end > keep && madvise(data_of(block) + keep, end - keep, MADV_FREE) == 0) block->dirty = keep;
}
