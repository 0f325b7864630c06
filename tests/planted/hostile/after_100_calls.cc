// Zeroes from the 101st call on. A fresh mapping each time.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  static int calls = 0;
  void* block = map_block(bytes);
  if (block != nullptr && ++calls > 100) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
