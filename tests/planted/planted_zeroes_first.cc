// Every block is a fresh mapping; that of the first calloc of a process is zeroed all the same.
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
