// Zeroes blocks of an odd size. A fresh mapping each time.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr && bytes % 2 == 1) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
