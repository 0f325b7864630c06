// 3,000 memsets of one byte each, in no order, and stores of its own for all but one page of the block.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    for (std::size_t i = 0; i < 3000; ++i) memset(block + i * 7 % 4000, hidden(0), 1);
    store_zeros(block, size);
  });
}
