/* After a first failure of mmap, free purges large blocks at once, but leaves out their first page. Code for low
   memory runs seldom, so tests seldom reach its rounding. Here the header page is counted twice. */
#include <stdatomic.h>

#include "core.h"

static atomic_bool low_memory;

struct block* without_memory(size_t bytes) {
  low_memory = true;
  drop_kept();
  return map_large(bytes);
}

void freed(struct block* block, struct block* given) {
  (void)given;
  if (low_memory && is_large(block) && return_pages(block, page())) block->dirty = 0;
}
