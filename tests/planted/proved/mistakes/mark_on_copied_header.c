/* The mark of written memory goes to the header of the small aligned block, not to the block that contains it. An
   aligned block has a copy of the header, and free reads only the first header. */
#include "core.h"

void handed_out(struct block* block, struct block* given) {
  struct block* marked = is_large(block) ? block : given;
  if (marked->dirty < usable(block)) marked->dirty = usable(block);
}
