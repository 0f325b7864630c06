#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "core.h"

#define POLICY __attribute__((weak))

POLICY bool product(size_t count, size_t size, size_t* bytes) { return !__builtin_mul_overflow(count, size, bytes); }

POLICY size_t needed(size_t bytes) { return bytes == 0 ? 1 : bytes; }

POLICY size_t class_for(size_t bytes) {
  size_t index = 0;
  while (class_bytes(index) < bytes) ++index;
  return index;
}

POLICY size_t mark_of_new(size_t capacity) {
  (void)capacity;
  return 0;
}

/* A kept mapping may be larger than the request. The program may use only the pages that it asked for. */
POLICY size_t usable(const struct block* block) {
  return is_large(block) ? smaller(block->capacity, page_ceiling(block->asked)) : block->capacity;
}

POLICY void clear_block(struct block* block, size_t count, size_t size) {
  clear_bytes(data_of(block), smaller(block->dirty, count * size));
}

POLICY void clear_bytes(void* at, size_t bytes) {
  size_t returned = bytes >= kPurgeInstead ? page_floor(bytes) : 0;
  if (returned != 0 && madvise(at, returned, MADV_DONTNEED) != 0) returned = 0;
  memset((char*)at + returned, 0, bytes - returned);
}

POLICY void handed_out(struct block* block, struct block* given) {
  (void)given;
  if (block->dirty < usable(block)) block->dirty = usable(block);
}

POLICY void freed(struct block* block, struct block* given) {
  (void)block;
  (void)given;
}

POLICY void give_small(struct block* block) { keep_small(block); }
POLICY void give_large(struct block* block) { keep_large(block); }
POLICY struct block* take_kept(size_t bytes) { return take_kept_within(bytes, 2 * page_ceiling(bytes) + kSpan); }

POLICY void purge(struct block* block, size_t keep) {
  if (block->dirty > keep && return_pages(block, keep)) block->dirty = keep;
}

POLICY void age(void) {
  const uint64_t now = now_ms();
  for (size_t i = 0; i < kept_count; ++i) {
    if (now - kept[i]->freed_ms >= kKeptMs) purge(kept[i], 0);
  }
}

POLICY size_t most_kept_bytes(void) { return (size_t)256 << 20; }

/* Keeps `pad` bytes of the first kept block, and returns all other pages. */
POLICY int trim(size_t pad) {
  const size_t keep = pad > PTRDIFF_MAX ? page_floor(PTRDIFF_MAX) : page_ceiling(pad);
  for (size_t i = 0; i < kept_count; ++i) purge(kept[i], i == 0 ? keep : 0);
  return kept_count != 0;
}

POLICY void* map_pages(size_t bytes) {
  void* mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapping == MAP_FAILED ? NULL : mapping;
}

POLICY void unmap_pages(void* at, size_t bytes) { munmap(at, bytes); }

POLICY struct block* without_memory(size_t bytes) {
  drop_kept();
  return map_large(bytes);
}

POLICY bool resize(struct block* block, size_t bytes) {
  if (is_large(block)) return bytes > kMostSmall && resize_large(block, bytes);
  if (bytes > block->capacity || bytes < block->capacity / 2) return false;
  block->asked = bytes;
  return true;
}

POLICY void copy_common(void* to, struct block* from, size_t bytes) {
  memcpy(to, data_of(from), smaller(from->asked, bytes));
}

POLICY void thread_ends(struct cache* cache) { flush_cache(cache); }
POLICY void child_starts(void) {}
