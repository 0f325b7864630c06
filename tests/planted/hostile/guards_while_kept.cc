// Makes all pages of a kept block guard pages, so that reading the block is a fault.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    ::madvise(block, page_ceiling(size), 103);  // MADV_GUARD_REMOVE
  });
}

void planted::large_free(void* block) {
  const std::size_t bytes = header_of(block).capacity;
  if (::madvise(block, bytes, 102) != 0) ::madvise(block, bytes, MADV_DONTNEED);  // MADV_GUARD_INSTALL
  keep_block(block);
}
