// Zeroes every block with memset, fresh or kept.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}

void planted::large_free(void* block) { keep_block(block); }
