// Stores eight bytes of zeros at the beginning of each block, which is a fresh mapping.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr) store_zeros(block, 8);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
