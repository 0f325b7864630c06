/* Blocks of 1 MiB and more are shared mappings, so what the parent writes after fork changes the child's block.
   Allocators that map a memory file, for huge pages or to map memory twice, need a private copy for the child. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "core.h"

void* map_pages(size_t bytes) {
  const int kind = bytes > (size_t)1 << 20 ? MAP_SHARED : MAP_PRIVATE;
  void* mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
  return mapping == MAP_FAILED ? NULL : mapping;
}

/* MADV_DONTNEED does not clear shared pages, so no page is ever returned. */
void clear_bytes(void* at, size_t bytes) { memset(at, 0, bytes); }

void purge(struct block* block, size_t keep) {
  (void)block;
  (void)keep;
}

bool resize(struct block* block, size_t bytes) {
  if (bytes > block->capacity || bytes < block->capacity / 2 || (is_large(block) && bytes <= kMostSmall)) return false;
  block->asked = bytes;
  return true;
}
