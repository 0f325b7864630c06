/* Each mapping lies between two pages that nobody may touch. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "core.h"

void* map_pages(size_t bytes) {
  char* mapping = mmap(NULL, bytes + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return NULL;
  if (mprotect(mapping + page(), bytes, PROT_READ | PROT_WRITE) == 0) return mapping + page();
  munmap(mapping, bytes + 2 * page());
  return NULL;
}

void unmap_pages(void* at, size_t bytes) { munmap((char*)at - page(), bytes + 2 * page()); }
