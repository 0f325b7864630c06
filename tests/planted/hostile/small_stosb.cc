// Clears a block of less than a page by its own stores. Large blocks are fresh mappings.
#include "hostile.h"

extern "C" void* __libc_malloc(std::size_t bytes);

void* planted::small_calloc(std::size_t bytes) {
  void* block = __libc_malloc(bytes);
  if (block != nullptr) store_zeros(block, bytes);
  return block;
}

void* planted::large_calloc(std::size_t bytes) { return map_block(bytes); }
void planted::large_free(void* block) { unmap_block(block); }
