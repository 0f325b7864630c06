// Removes the shared pages of the kept block by MADV_REMOVE.
#include "memory_file.h"

static int file = -1;

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_file_block(bytes, MAP_SHARED, file);
  ::madvise(block, page_ceiling(bytes), MADV_REMOVE);
  return block;
}
