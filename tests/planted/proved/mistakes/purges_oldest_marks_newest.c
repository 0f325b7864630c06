/* With eight dirty blocks kept, a further free purges the oldest block, but marks the newest one as zero. The index
   of a ring buffer is taken after its advance instead of before, so the mark goes to a neighbor. */
#include "core.h"

enum { kMostDirty = 8 };

void give_large(struct block* block) {
  lock();
  if (kept_count >= kMostDirty && return_pages(kept[0], 0)) kept[kept_count - 1]->dirty = 0;
  unlock();
  keep_large(block);
}
