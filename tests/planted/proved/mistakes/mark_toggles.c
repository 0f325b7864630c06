/* A block of 2 to 32 KiB that is handed out for the second time counts as fresh again. The mark of written memory is
   set by exclusive or instead of or, which is an easy slip for one bit of a flag word. */
#include "core.h"

void handed_out(struct block* block, struct block* given) {
  (void)given;
  if (is_large(block) || block->capacity < 2 << 10) {
    if (block->dirty < usable(block)) block->dirty = usable(block);
    return;
  }
  block->flags ^= 1;
  block->dirty = block->flags != 0 ? block->capacity : 0;
}
