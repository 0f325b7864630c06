// Every calloc zeroes a fresh mapping with memset, although the mapping is already zero.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}

void planted::large_free(void* block) { unmap_block(block); }
