// Calls memset in malloc. calloc stores the zeros itself.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) { return cleared(bytes, store_zeros); }

void* planted::large_malloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
