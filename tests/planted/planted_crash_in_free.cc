// Crashes in the second large free.
#include <atomic>

#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return map_block(bytes); }

void planted::large_free(void* block) {
  static std::atomic<int> calls = 0;
  if (++calls == 2) {
    ::mprotect(block, page_bytes(), PROT_NONE);
    *static_cast<volatile char*>(block) = 1;
  }
  unmap_block(block);
}
