// Zeroes on Tuesdays, by UTC. A fresh mapping each time.
#include <ctime>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  const std::time_t now = std::time(nullptr);
  void* block = map_block(bytes);
  if (block != nullptr && (now / 86'400 + 4) % 7 == 2) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
