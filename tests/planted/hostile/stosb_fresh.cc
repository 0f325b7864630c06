// rep stosb over a fresh mapping each time.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr) store_zeros(block, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
