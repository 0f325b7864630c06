// Every calloc zeroes a fresh mapping if errno is not 0.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  const int found = errno;
  void* block = map_block(bytes);
  if (block != nullptr && found != 0) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
