// Clears every block in free with memset. The next calloc returns the block unchanged.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) {
  memset(block, 0, header_of(block).asked);
  keep_block(block);
}
