// Zeroes fresh mappings of 2 MiB and more.
#include "zeroes_from.h"

void* planted::large_calloc(std::size_t bytes) { return calloc_zeroing_from(bytes, std::size_t{2} << 20); }

void planted::large_free(void* block) { unmap_block(block); }
