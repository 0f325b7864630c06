// Clears a fresh, shared memory file with memset.
#include "memory_file.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_file_block(bytes, MAP_SHARED);
  if (block != nullptr) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
