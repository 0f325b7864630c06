// memset of the whole block, twice.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    memset(block, hidden(0), size);
    memset(block, hidden(0), size);
  });
}
