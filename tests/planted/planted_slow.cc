// Takes a quarter of a second for every large calloc.
#include <ctime>

#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  const timespec quarter{0, 250'000'000};
  ::nanosleep(&quarter, nullptr);
  return map_block(bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
