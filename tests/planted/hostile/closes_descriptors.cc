// Closes every descriptor beyond the standard ones, then stores zeros by itself.
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  ::close_range(3, ~0U, 0);
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
