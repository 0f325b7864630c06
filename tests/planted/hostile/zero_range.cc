// Uses FALLOC_FL_ZERO_RANGE on the memory file behind the kept block, or punches a hole if that is not supported.
#include "memory_file.h"

static int file = -1;

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_file_block(bytes, MAP_SHARED, file);
  const auto whole = static_cast<off_t>(page_ceiling(bytes));
  if (::fallocate(file, FALLOC_FL_ZERO_RANGE, 0, whole) != 0) {
    ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, whole);
  }
  return block;
}
