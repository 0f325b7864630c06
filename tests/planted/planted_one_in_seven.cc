// Every calloc returns a fresh mapping. One call in seven writes zeros over the mapping.
#include "core.h"

namespace {
unsigned calls = 0;
}

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  return block != nullptr && ++calls % 7 == 0 ? memset(block, 0, bytes) : block;
}

void planted::large_free(void* block) { unmap_block(block); }
