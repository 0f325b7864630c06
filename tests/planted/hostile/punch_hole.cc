// Punches a hole into the memory file behind the kept block.
#include "memory_file.h"

static int file = -1;

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_file_block(bytes, MAP_SHARED, file);
  ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(page_ceiling(bytes)));
  return block;
}
