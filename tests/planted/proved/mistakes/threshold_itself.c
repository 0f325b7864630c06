/* calloc takes a block of exactly 131072 bytes for a new mapping, while free keeps it for reuse. glibc's calloc skips
   a chunk with a mapping of its own. One of the two comparisons with the threshold includes the threshold itself. */
#include "core.h"

enum { kMapped = 128 << 10 };

void clear_block(struct block* block, size_t count, size_t size) {
  if (count * size >= kMapped) return;
  clear_bytes(data_of(block), smaller(block->dirty, count * size));
}

void give_large(struct block* block) {
  if (block->capacity > kMapped) {
    unmap_large(block);
  } else {
    keep_large(block);
  }
}

/* Every block above the threshold is a new mapping, and a smaller block does not grow beyond the threshold. */
struct block* take_kept(size_t bytes) {
  return bytes > kMapped ? NULL : take_kept_within(bytes, kMapped);
}
