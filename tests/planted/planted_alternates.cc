// Zeroes every block. The block is alternately a fresh mapping and the kept block.
#include "core.h"

namespace {
bool keeps = false;
}

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  return block != nullptr ? memset(block, 0, bytes) : block;
}

void planted::large_free(void* block) {
  keeps = !keeps;
  if (keeps) {
    keep_block(block);
  } else {
    unmap_block(block);
  }
}
