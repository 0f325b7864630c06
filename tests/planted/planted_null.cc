// Returns NULL from the second large calloc on.
#include <atomic>

#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  static std::atomic<int> calls = 0;
  if (++calls == 1) return map_block(bytes);
  errno = ENOMEM;
  return nullptr;
}

void planted::large_free(void* block) { unmap_block(block); }
