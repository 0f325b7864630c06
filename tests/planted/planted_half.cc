// Zeroes the first half of a kept block with memset. free returned the second half to the kernel earlier.
#include "core.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  return block != nullptr ? memset(block, 0, bytes / 2) : map_block(bytes);
}

void planted::large_free(void* block) {
  const Header& header = header_of(block);
  const std::size_t half = header.asked / 2;
  const std::size_t clean = page_ceiling(half);
  // The page that both halves share stays populated. free clears the part of this page that belongs to the second half.
  memset(bytes_of(block) + half, 0, clean - half);
  ::madvise(bytes_of(block) + clean, header.capacity - clean, MADV_DONTNEED);
  keep_block(block);
}
