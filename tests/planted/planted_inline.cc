// Zeroes every block, fresh or kept, by its own stores, so no GOT slot is used.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block == nullptr) return nullptr;
  store_zeros(block, bytes);
  return block;
}

void planted::large_free(void* block) { keep_block(block); }
