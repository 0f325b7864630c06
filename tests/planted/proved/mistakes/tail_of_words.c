/* calloc of a small block clears whole words of eight bytes only, so up to seven bytes at the end stay dirty. A loop
   over words needs a second loop for the last bytes. Hand-written code often lacks the second loop. */
#include "core.h"

void clear_block(struct block* block, size_t count, size_t size) {
  size_t bytes = smaller(block->dirty, count * size);
  if (!is_large(block)) bytes &= ~(size_t)7;
  clear_bytes(data_of(block), bytes);
}
