// Zeroes byte by byte, as memset_explicit does where the library does not provide it.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    for (volatile char* to = block; to < block + size; ++to) *to = 0;
  });
}
