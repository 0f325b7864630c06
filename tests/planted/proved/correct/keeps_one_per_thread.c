/* Each thread keeps its last large block with the mark, and gives the block to all threads when it ends. */
#include "core.h"

static __thread struct block* last __attribute__((tls_model("initial-exec")));

void give_large(struct block* block) {
  struct block* before = has_cache() ? last : block;
  if (has_cache()) last = block;
  block->freed_ms = now_ms();
  if (before != NULL) keep_large(before);
}

struct block* take_kept(size_t bytes) {
  struct block* block = last;
  if (block == NULL || block->capacity < bytes || block->capacity > 2 * page_ceiling(bytes)) {
    return take_kept_within(bytes, 2 * page_ceiling(bytes) + kSpan);
  }
  last = NULL;
  return block;
}

void thread_ends(struct cache* cache) {
  flush_cache(cache);
  if (last != NULL && kept_count < kKept) {
    add_kept(last);
  } else if (last != NULL) {
    unmap_large(last);
  }
  last = NULL;
}
