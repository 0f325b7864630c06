// Crashes in the third large calloc.
#include <atomic>

#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  static std::atomic<int> calls = 0;
  void* block = map_block(bytes);
  if (++calls == 3) {
    ::mprotect(block, page_bytes(), PROT_NONE);
    *static_cast<volatile char*>(block) = 1;
  }
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
