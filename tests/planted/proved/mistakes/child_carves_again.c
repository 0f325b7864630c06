/* The child of a fork carves new blocks from the start of a span whose thread does not exist in the child. A child
   reclaims the memory of vanished threads. Blocks that these threads had handed out are still in use. */
#include "core.h"

void child_starts(void) {
  if (!has_cache()) return;
  struct cache* own = own_cache();
  for (size_t i = 1; i < kCaches; ++i) {
    struct cache* other = &caches[i];
    if (other == own || !other->used || other->span == NULL) continue;
    own->span = own->carved = other->span;
    own->span_end = other->span_end;
    return;
  }
}
