// Clears every block in free by its own stores. The next calloc returns the block unchanged.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) {
  store_zeros(block, header_of(block).asked);
  keep_block(block);
}
