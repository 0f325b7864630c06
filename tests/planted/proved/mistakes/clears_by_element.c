/* calloc of several elements clears whole words of each element, so the odd tail of each element stays dirty. The
   loop over elements is meant for aligned structures, and calloc's caller may split a block into elements of any
   size. */
#include "core.h"

void clear_block(struct block* block, size_t count, size_t size) {
  const size_t bytes = smaller(block->dirty, count * size);
  if (is_large(block) || count < 2 || size < 8) {
    clear_bytes(data_of(block), bytes);
    return;
  }
  for (size_t i = 0; i < count && i * size < bytes; ++i) clear_bytes(data_of(block) + i * size, size & ~(size_t)7);
}
