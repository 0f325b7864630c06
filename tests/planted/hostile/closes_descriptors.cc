// Closes every descriptor except the standard descriptors, then stores zeros itself.
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  ::close_range(3, ~0U, 0);
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
