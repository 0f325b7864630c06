// Zeroes on every thread except the first. A fresh mapping each time.
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr && ::gettid() != ::getpid()) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
