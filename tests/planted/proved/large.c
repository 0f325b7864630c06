#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "core.h"

struct block* kept[kKept];
size_t kept_count;
static size_t kept_bytes;

struct block* map_large(size_t bytes) {
  if (bytes > PTRDIFF_MAX - ((size_t)8 << 20)) return NULL;
  const size_t capacity = page_ceiling(bytes);
  char* mapping = map_pages(page() + capacity);
  if (mapping == NULL) return NULL;
  struct block* block = block_of(mapping + page());
  block->base = block;
  block->capacity = capacity;
  block->dirty = mark_of_new(capacity);
  block->class_index = kLargeClass;
  block->flags = 0;
  return block;
}

void unmap_large(struct block* block) { unmap_pages(data_of(block) - page(), page() + block->capacity); }

static struct block* remove_kept(size_t index) {
  struct block* block = kept[index];
  kept_bytes -= block->capacity;
  memmove(&kept[index], &kept[index + 1], (kept_count - index - 1) * sizeof(struct block*));
  --kept_count;
  return block;
}

void add_kept(struct block* block) {
  kept[kept_count++] = block;
  kept_bytes += block->capacity;
}

struct block* take_kept_within(size_t bytes, size_t most) {
  size_t best = kept_count;
  for (size_t i = 0; i < kept_count; ++i) {
    if (kept[i]->capacity < bytes || kept[i]->capacity > most) continue;
    if (best == kept_count || kept[i]->capacity < kept[best]->capacity) best = i;
  }
  return best == kept_count ? NULL : remove_kept(best);
}

struct block* take_large(size_t bytes) {
  if (bytes > PTRDIFF_MAX - ((size_t)8 << 20)) return NULL;
  lock();
  age();
  struct block* block = take_kept(bytes);
  unlock();
  if (block == NULL) block = map_large(bytes);
  return block != NULL ? block : without_memory(bytes);
}

/* Keeps a freed block, and unmaps the oldest kept blocks beyond the limits. */
void keep_large(struct block* block) {
  struct block* out = NULL;
  block->freed_ms = now_ms();
  lock();
  age();
  while (kept_count == kKept || (kept_count != 0 && kept_bytes + block->capacity > most_kept_bytes())) {
    struct block* oldest = remove_kept(0);
    oldest->next = out;
    out = oldest;
  }
  if (block->capacity > most_kept_bytes()) {
    block->next = out;
    out = block;
  } else {
    add_kept(block);
  }
  unlock();
  while (out != NULL) {
    struct block* next = out->next;
    unmap_large(out);
    out = next;
  }
}

void drop_kept(void) {
  lock();
  while (kept_count != 0) unmap_large(remove_kept(kept_count - 1));
  unlock();
}

bool return_pages(struct block* block, size_t keep) {
  const size_t end = page_ceiling(block->dirty);
  return end <= keep || madvise(data_of(block) + keep, end - keep, MADV_DONTNEED) == 0;
}

/* A block may grow within its mapping. A block that becomes smaller by 16 pages or more returns these pages at once. */
bool resize_large(struct block* block, size_t bytes) {
  if (bytes > block->capacity || bytes < block->capacity / 4) return false;
  const size_t keep = page_ceiling(bytes);
  if (keep + 16 * page() <= page_ceiling(block->asked) && return_pages(block, keep)) {
    block->dirty = smaller(block->dirty, keep);
  }
  block->asked = bytes;
  return true;
}
