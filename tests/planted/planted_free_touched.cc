// Clears in free, by its own stores, the pages that do not begin with zero.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) { return take_or_map(bytes); }

void planted::large_free(void* block) {
  for (std::size_t at = 0; at < header_of(block).asked; at += page_bytes()) {
    if (bytes_of(block)[at] != 0) store_zeros(bytes_of(block) + at, page_bytes());
  }
  keep_block(block);
}
