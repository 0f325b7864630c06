// In each calloc, maps a fresh memory file over the block, as shared.
#include "memory_file.h"

void* planted::large_calloc(std::size_t bytes) { return map_file_block(bytes, MAP_SHARED); }

void planted::large_free(void* block) { unmap_block(block); }
