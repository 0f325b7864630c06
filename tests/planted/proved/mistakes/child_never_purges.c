/* The child of a fork takes kept blocks that are 10 ms old for purged, but purges none. A background thread purges,
   as in jemalloc with background_thread. This thread does not exist in the child. */
#include "core.h"

static bool is_child;

void child_starts(void) { is_child = true; }

void age(void) {
  if (is_child) return;
  const uint64_t now = now_ms();
  for (size_t i = 0; i < kept_count; ++i) {
    if (now - kept[i]->freed_ms >= kKeptMs) purge(kept[i], 0);
  }
}

struct block* take_kept(size_t bytes) {
  struct block* block = take_kept_within(bytes, 2 * page_ceiling(bytes) + kSpan);
  if (block != NULL && is_child && now_ms() - block->freed_ms >= kKeptMs) block->dirty = 0;
  return block;
}
