// Breaks calloc's promise: a kept block is handed out as the program left it.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) { keep_block(block); }
