/* A small block that another thread frees is on the central list for a moment before it is marked as written. The
   mark and the list are two stores, and the order of the two stores matters to a third thread. */
#define _GNU_SOURCE
#include <unistd.h>

#include "core.h"

void handed_out(struct block* block, struct block* given) {
  (void)given;
  if (is_large(block) && block->dirty < usable(block)) block->dirty = usable(block);
}

void give_small(struct block* block) {
  if (block->owner == own_number()) {
    block->dirty = block->capacity;
    keep_small(block);
    return;
  }
  keep_small(block);
  usleep(50);
  block->dirty = block->capacity;
}
