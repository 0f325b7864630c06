// Clears every block in free by its own stores, and makes the block's pages inaccessible until the block is reused.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_block(bytes);
  ::mprotect(block, header_of(block).capacity, PROT_READ | PROT_WRITE);
  return block;
}

void planted::large_free(void* block) {
  store_zeros(block, header_of(block).asked);
  ::mprotect(block, header_of(block).capacity, PROT_NONE);
  keep_block(block);
}
