// MADV_DONTNEED, then stores of its own over what is already zero.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    ::madvise(block, page_ceiling(size), MADV_DONTNEED);
    store_zeros(block, size);
  });
}
