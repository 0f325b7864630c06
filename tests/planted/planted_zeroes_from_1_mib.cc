// Zeroes fresh mappings of 1 MiB and more, which is half the threshold of planted_zeroes_from_2_mib.
#include "zeroes_from.h"

void* planted::large_calloc(std::size_t bytes) { return calloc_zeroing_from(bytes, std::size_t{1} << 20); }

void planted::large_free(void* block) { unmap_block(block); }
