// A fresh mapping each time; one zero is stored into its last byte.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr) *const_cast<volatile char*>(bytes_of(block) + bytes - 1) = 0;
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
