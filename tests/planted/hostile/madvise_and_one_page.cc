// Drops all pages of the kept block but the first, which it clears by itself.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    if (size > kPage) ::madvise(block + kPage, page_ceiling(size) - kPage, MADV_DONTNEED);
    store_zeros(block, size < kPage ? size : kPage);
  });
}
