// A fresh mapping each time, untouched; memset clears 64 KiB of the allocator's own memory.
#include "hostile.h"

namespace {

char own[64 << 10];

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  memset(&own[0], 0, hidden(sizeof own));
  return map_block(bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
