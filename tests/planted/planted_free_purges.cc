// Keeps every block, and returns the block's pages to the kernel in free. Stores nothing.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) {
  ::madvise(block, header_of(block).capacity, MADV_DONTNEED);
  keep_block(block);
}
