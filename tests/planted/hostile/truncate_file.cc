// Truncates the memory file behind the kept block to nothing, and extends it again.
#include "memory_file.h"

static int file = -1;

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_file_block(bytes, MAP_SHARED, file);
  const auto whole = static_cast<off_t>(page_ceiling(bytes));
  if (::ftruncate(file, 0) != 0 || ::ftruncate(file, whole) != 0) memset(block, 0, bytes);
  return block;
}
