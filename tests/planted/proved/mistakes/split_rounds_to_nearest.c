/* A large kept block is split at the nearest multiple of 16 instead of the next, so the rest overlaps up to seven
   bytes. The split adds half a unit before it rounds. The header of the rest then lies on the last bytes of a live
   block. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

struct block* take_kept(size_t bytes) {
  struct block* block = take_kept_within(bytes, SIZE_MAX);
  if (block == NULL || block->capacity < bytes + 2 * (size_t)kMostSmall) return block;
  const size_t end = (bytes + 8) & ~(size_t)15;
  struct block* rest = block_of(data_of(block) + end + kHeader);
  rest->base = rest;
  rest->capacity = block->capacity - end - kHeader;
  rest->dirty = rest->capacity;
  rest->freed_ms = block->freed_ms;
  rest->class_index = kLargeClass;
  rest->flags = 0;
  block->capacity = end;
  block->dirty = smaller(block->dirty, end);
  add_kept(rest);
  return block;
}

/* Parts of pages cannot be returned, so split blocks stay as large as they are. */
void unmap_pages(void* at, size_t bytes) {
  if ((((uintptr_t)at | bytes) & (page() - 1)) == 0) munmap(at, bytes);
}

void purge(struct block* block, size_t keep) {
  (void)block;
  (void)keep;
}

bool resize(struct block* block, size_t bytes) {
  if (bytes > usable(block) || bytes < block->capacity / 2 || (is_large(block) && bytes <= kMostSmall)) return false;
  block->asked = bytes;
  return true;
}
