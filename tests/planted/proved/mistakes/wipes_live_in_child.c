/* A kept block is wiped in the child of a fork, and stays so when a smaller request reuses it, so the child loses
   live contents. MADV_WIPEONFORK belongs to the mapping. It must be undone by MADV_KEEPONFORK on every path that
   reuses the mapping. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

void give_large(struct block* block) {
  madvise(data_of(block), block->capacity, MADV_WIPEONFORK);
  keep_large(block);
}

struct block* take_kept(size_t bytes) {
  struct block* block = take_kept_within(bytes, 2 * page_ceiling(bytes) + kSpan);
  if (block != NULL && block->capacity == page_ceiling(bytes)) {
    madvise(data_of(block), block->capacity, MADV_KEEPONFORK);
  }
  return block;
}
