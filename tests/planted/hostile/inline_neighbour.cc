// A fresh mapping each time, untouched; stores of its own clear 64 KiB that are in no block.
#include "hostile.h"

namespace {

char own[64 << 10];

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  store_zeros(&own[0], sizeof own);
  return map_block(bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
