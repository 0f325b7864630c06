/* free marks a small block as written only if the thread that allocated it frees it. Allocators with lists per thread
   have a second path for blocks of other threads, which must do all the work of the first path. */
#include "core.h"

void handed_out(struct block* block, struct block* given) {
  (void)given;
  if (is_large(block) && block->dirty < usable(block)) block->dirty = usable(block);
}

void freed(struct block* block, struct block* given) {
  (void)given;
  if (!is_large(block) && block->owner == own_number()) block->dirty = block->capacity;
}
