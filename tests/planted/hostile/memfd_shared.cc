// A fresh memory file, shared, over the block in each call.
#include "memory_file.h"

void* planted::large_calloc(std::size_t bytes) { return map_file_block(bytes, MAP_SHARED); }

void planted::large_free(void* block) { unmap_block(block); }
