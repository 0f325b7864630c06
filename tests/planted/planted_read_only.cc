// Returns blocks that cannot be written to.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr) ::mprotect(block, page_ceiling(bytes), PROT_READ);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
