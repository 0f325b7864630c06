/* calloc clears a number of bytes that is cut to 32 bits, so a reused block of more than 4 GiB stays dirty. mimalloc
   2.0.9 capped the block size at 2 GiB in a field of 32 bits, and its calloc of 4 GiB cleared only 2 GiB. */
#include "core.h"

void clear_block(struct block* block, size_t count, size_t size) {
  const uint32_t bytes = (uint32_t)smaller(block->dirty, count * size);
  clear_bytes(data_of(block), bytes);
}

size_t most_kept_bytes(void) { return (size_t)16 << 30; }
