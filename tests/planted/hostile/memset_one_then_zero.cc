// Writes ones with memset, then zeros: no zero is redundant.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    memset(block, hidden(1), size);
    memset(block, hidden(0), size);
  });
}
