// Clears only the pages whose first byte is non-zero.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    by_pieces(block, size, [](char* page, std::size_t part) {
      if (*page != 0) store_zeros(page, part);
    });
  });
}
