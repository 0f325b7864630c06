// Takes 300 µs for each call, and zeroes nothing.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  for (int i = 0; i < 20'000; ++i) asm volatile("pause");
  return map_block(bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
