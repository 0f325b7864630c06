// Makes 10,000 memsets of 16 bytes. A clock around each memset would mostly measure the clock. free drops the rest of
// the block.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    for (std::size_t at = 0; at < 160'000 && at < size; at += 16) memset(block + at, hidden(0), 16);
  });
}

void planted::large_free(void* block) {
  ::madvise(block, header_of(block).capacity, MADV_DONTNEED);
  keep_block(block);
}
