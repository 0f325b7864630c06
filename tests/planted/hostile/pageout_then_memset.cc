// MADV_COLD and MADV_PAGEOUT, then memset.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    ::madvise(block, page_ceiling(size), 20);
    ::madvise(block, page_ceiling(size), 21);
    memset(block, 0, size);
  });
}
