// Breaks calloc's promise, because it returns a kept block with the program's bytes.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) { keep_block(block); }
