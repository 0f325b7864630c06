/* calloc of exactly a size class of more than 128 bytes clears only as many bytes as the class below has. The
   clearing code finds the class by `bytes < limit`, and the code that allocates finds it by `bytes <= limit`. */
#include "core.h"

void clear_block(struct block* block, size_t count, size_t size) {
  size_t bytes = smaller(block->dirty, count * size);
  if (!is_large(block) && count * size == block->capacity && block->class_index > 8) {
    bytes = smaller(bytes, class_bytes(block->class_index - 1u));
  }
  clear_bytes(data_of(block), bytes);
}
