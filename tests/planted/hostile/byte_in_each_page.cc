// A fresh mapping each time; one zero is stored into each page.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  for (std::size_t at = 0; at < bytes; at += kPage) *const_cast<volatile char*>(bytes_of(block) + at) = 0;
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
