// Zeroes if LD_PRELOAD is set. A fresh mapping each time.
#include <cstdlib>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr && ::getenv("LD_PRELOAD") != nullptr) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
