/* When mmap fails, any larger kept block serves the request, and counts as fresh. The fallback stands in the function
   that maps new memory, and the caller takes all that this function returns for zero. */
#include "core.h"

struct block* without_memory(size_t bytes) {
  lock();
  struct block* block = take_kept_within(bytes, SIZE_MAX);
  if (block != NULL) block->dirty = 0;
  unlock();
  if (block != NULL) return block;
  drop_kept();
  return map_large(bytes);
}
