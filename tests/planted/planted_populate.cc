// Has the kernel populate every block, and stores nothing in it.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return map_block(bytes, MAP_POPULATE); }

void planted::large_free(void* block) { unmap_block(block); }
