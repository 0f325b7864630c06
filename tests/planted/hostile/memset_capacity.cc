// memset of all the pages of the block, beyond its end.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, page_ceiling(size)); });
}
