/* The free blocks of a thread that ends are marked as fresh. The end of a thread gives its whole arena back, and the
   code treats this arena as one that was just mapped. */
#include "core.h"

void thread_ends(struct cache* cache) {
  for (size_t i = 0; i < kClasses; ++i) {
    for (struct block* block = cache->lists[i]; block != NULL; block = block->next) block->dirty = 0;
  }
  flush_cache(cache);
}
