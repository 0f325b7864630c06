// A fresh mapping each time; memset writes the last quarter of it.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr) memset(bytes_of(block) + bytes - bytes / 4, 0, bytes / 4);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
