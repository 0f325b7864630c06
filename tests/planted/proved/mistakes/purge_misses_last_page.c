/* A purge leaves out the last page of a block, and marks the whole block as zero. The last page is a partial page in
   many allocators, and the end is rounded down instead of up. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

void purge(struct block* block, size_t keep) {
  const size_t end = page_ceiling(block->dirty);
  if (end <= keep + page()) return;
  if (madvise(data_of(block) + keep, end - keep - page(), MADV_DONTNEED) == 0) block->dirty = keep;
}
