// Has the kernel populate a fresh mapping, then clears the mapping by its own stores.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes, MAP_POPULATE);
  if (block == nullptr) return nullptr;
  store_zeros(block, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
