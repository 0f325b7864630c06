// Clears every block in free by its own stores, and then returns the block's pages to the kernel anyway.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) {
  store_zeros(block, header_of(block).asked);
  ::madvise(block, header_of(block).capacity, MADV_DONTNEED);
  keep_block(block);
}
