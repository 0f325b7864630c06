/* realloc to a smaller size returns whole pages, but marks all bytes beyond the new size as zero. The rest of the
   last page stays in place. The mark must be rounded up to the page, as the purge is. */
#include "core.h"

size_t usable(const struct block* block) { return is_large(block) ? block->asked : block->capacity; }

bool resize(struct block* block, size_t bytes) {
  if (is_large(block)) {
    const size_t before = block->asked;
    if (bytes <= kMostSmall || !resize_large(block, bytes)) return false;
    if (page_ceiling(bytes) + 16 * page() <= page_ceiling(before)) block->dirty = smaller(block->dirty, bytes);
    return true;
  }
  if (bytes > block->capacity || bytes < block->capacity / 2) return false;
  block->asked = bytes;
  return true;
}
