// memcpy from a page of zeros.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    by_pieces(block, size, [](char* to, std::size_t part) { memcpy(to, &zeros[0], part); });
  });
}
