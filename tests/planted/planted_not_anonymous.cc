// Returns shared file mappings that are all zero, and zeroes nothing.
#include "shared_block.h"

void* planted::large_calloc(std::size_t bytes) {
  return map_shared(bytes, [](int /*file*/) { return true; });
}

void planted::large_free(void* block) { unmap_block(block); }
