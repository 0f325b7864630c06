// Never returns from the second large calloc.
#include <atomic>

#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  static std::atomic<int> calls = 0;
  for (volatile bool forever = ++calls == 2; forever;) {
  }
  return map_block(bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
