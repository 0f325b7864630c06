/* Mappings of 2 MiB and more ask for huge pages, so one fault populates 512 pages. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

enum { kHuge = 2 << 20 };

void* map_pages(size_t bytes) {
  const size_t extra = bytes >= kHuge ? kHuge : 0;
  char* mapping = mmap(NULL, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return NULL;
  if (extra == 0) return mapping;
  const size_t before = -(uintptr_t)mapping & (kHuge - 1);
  if (before != 0) munmap(mapping, before);
  if (before != extra) munmap(mapping + before + bytes, extra - before);
  madvise(mapping + before, bytes, MADV_HUGEPAGE);
  return mapping + before;
}
