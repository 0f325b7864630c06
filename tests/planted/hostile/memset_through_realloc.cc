// Implements calloc as realloc of a null pointer, followed by memset.
#include <cstdlib>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = realloc(nullptr, bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}
