/* A thread that takes several blocks from the central list marks all but the first as fresh. A batch comes from a new
   span most of the time, and the code takes the list of freed blocks for such a span. */
#include "core.h"

void refill(struct cache* cache, size_t class_index) {
  for (int i = 0; i < kBatch && central[class_index] != NULL; ++i) {
    struct block* block = pop(&central[class_index]);
    if (i != 0) block->dirty = 0;
    block->next = cache->lists[class_index];
    cache->lists[class_index] = block;
    ++cache->counts[class_index];
  }
}
