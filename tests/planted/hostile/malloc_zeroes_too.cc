// Stores zeros in malloc as well as in calloc.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) { return large_malloc(bytes); }

void* planted::large_malloc(std::size_t bytes) { return cleared(bytes, store_zeros); }
