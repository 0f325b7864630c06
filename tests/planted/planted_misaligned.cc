// Returns blocks that are aligned only to eight bytes.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes + 8);
  return block != nullptr ? bytes_of(block) + 8 : nullptr;
}

void planted::large_free(void* block) { unmap_block(block); }
