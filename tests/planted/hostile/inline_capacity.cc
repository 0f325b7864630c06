// Stores of its own, to the end of the last page.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, page_ceiling(size)); });
}
