/* A block is purged in two steps, at 10 and at 20 ms, and counts as zero after the first step. Decay curves return a
   part of the dirty pages at each tick, and the mark belongs to the whole block. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

void age(void) {
  const uint64_t now = now_ms();
  for (size_t i = 0; i < kept_count; ++i) {
    struct block* block = kept[i];
    const uint64_t old = now - block->freed_ms;
    if (old >= kKeptMs && block->flags == 0) {
      const size_t half = page_floor(block->dirty / 2);
      if (!return_pages(block, half)) continue;
      block->flags = 1 + (uint32_t)(half / page());
      block->dirty = 0;
    } else if (old >= UINT64_C(2) * kKeptMs && block->flags > 1) {
      if (madvise(data_of(block), (block->flags - 1) * page(), MADV_DONTNEED) == 0) block->flags = 1;
    }
  }
}

void freed(struct block* block, struct block* given) {
  (void)given;
  block->flags = 0;
}

/* malloc_trim purges a block without its marks. */
int trim(size_t pad) {
  (void)pad;
  return 0;
}
