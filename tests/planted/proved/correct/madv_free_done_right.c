/* A purge uses MADV_FREE, and the block stays marked as written, so calloc clears the block. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

enum { kPurged = 1 };

void purge(struct block* block, size_t keep) {
  const size_t end = page_ceiling(block->dirty);
  if (block->flags == kPurged || end <= keep) return;
  madvise(data_of(block) + keep, end - keep, MADV_FREE);
  block->flags = kPurged;
}

void freed(struct block* block, struct block* given) {
  (void)given;
  block->flags = 0;
}
