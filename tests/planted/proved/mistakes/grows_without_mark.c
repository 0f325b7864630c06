/* realloc that grows a large block in place does not mark the new bytes as written. The high-water mark moves in
   malloc and calloc, and the third function that hands out bytes is forgotten. */
#include "core.h"

enum { kGrown = 1 };

bool resize(struct block* block, size_t bytes) {
  if (is_large(block)) {
    if (bytes <= kMostSmall || !resize_large(block, bytes)) return false;
    block->flags = kGrown;
    return true;
  }
  if (bytes > block->capacity || bytes < block->capacity / 2) return false;
  block->asked = bytes;
  return true;
}

void handed_out(struct block* block, struct block* given) {
  (void)given;
  const bool grown = block->flags == kGrown;
  block->flags = 0;
  if (!grown && block->dirty < usable(block)) block->dirty = usable(block);
}
