/* The mark of written bytes of a large aligned block ends too early, by the distance of the aligned address from the
   block's start. The mark counts the bytes of the request, and the request begins at the aligned address. */
#include "core.h"

void handed_out(struct block* block, struct block* given) {
  size_t end = usable(block);
  if (is_large(block) && given != block) end = smaller(end, page_ceiling(given->asked));
  if (block->dirty < end) block->dirty = end;
}
