// madvise(MADV_DONTNEED): the kernel's pages, not the allocator's stores.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { ::madvise(block, page_ceiling(size), MADV_DONTNEED); });
}
