// MADV_FREE, then memset of what the kernel has not taken.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    ::madvise(block, page_ceiling(size), MADV_FREE);
    memset(block, 0, size);
  });
}
