// memset of the first half (of pages), stores of its own for the rest.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const std::size_t first = size / 2 / kPage * kPage;
    memset(block, 0, first);
    store_zeros(block + first, size - first);
  });
}
