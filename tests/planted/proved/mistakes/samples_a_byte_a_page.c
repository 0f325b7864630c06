/* free takes a large block for zero if the first byte of each page is zero. A check of populated pages by one byte a
   page is common in tests of allocators, and misses a page of which other bytes are written. */
#include "core.h"

void freed(struct block* block, struct block* given) {
  (void)given;
  if (!is_large(block) || block->capacity > (size_t)64 << 20) return;
  for (size_t at = 0; at < block->capacity; at += page()) {
    if (data_of(block)[at] != 0) return;
  }
  block->dirty = 0;
}
