// Every calloc returns a fresh mapping. The first calloc of a process also zeroes its mapping.
#include "core.h"

namespace {
bool had_one = false;
}

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block == nullptr || had_one) return block;
  had_one = true;
  return memset(block, 0, bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
