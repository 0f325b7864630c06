// Reads every page of a fresh block before it returns the block. The kernel maps its zero page into the block, and
// populates nothing.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  ::madvise(block, page_ceiling(bytes), MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += page_bytes())
    static_cast<void>(*static_cast<volatile char*>(bytes_of(block) + at));
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
