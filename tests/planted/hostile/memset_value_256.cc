// memset takes the low byte of its value: 256 writes zeros.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, hidden(256), size); });
}
