// Has the kernel populate a fresh mapping, and stores nothing.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  ::madvise(block, page_ceiling(bytes), 23);  // MADV_POPULATE_WRITE
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
