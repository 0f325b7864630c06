/* Every eighth free of a block of 8 KiB or more returns the block's whole pages, and marks all bytes as zero. Small
   blocks share their first and last page with neighbors. An allocator that purges runs of freed blocks must keep the
   marks of these ends. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/mman.h>

#include "core.h"

void give_small(struct block* block) {
  static atomic_uint frees;
  if (block->capacity >= 8 << 10 && ++frees % 8 == 0) {
    char* first = data_of(block) + (-(uintptr_t)data_of(block) & (page() - 1));
    char* end = data_of(block) + block->capacity;
    if (madvise(first, page_floor((size_t)(end - first)), MADV_DONTNEED) == 0) block->dirty = 0;
  }
  keep_small(block);
}
