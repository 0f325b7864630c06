// calloc is realloc of nothing, and then memset.
#include <cstdlib>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = realloc(nullptr, bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}
