// Stores of its own, twice.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    store_zeros(block, size);
    store_zeros(block, size);
  });
}
