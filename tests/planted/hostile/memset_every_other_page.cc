// A fresh mapping each time; memset writes every other page of it.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  for (std::size_t at = 0; at < bytes; at += 2 * kPage) {
    memset(bytes_of(block) + at, 0, bytes - at < kPage ? bytes - at : kPage);
  }
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
