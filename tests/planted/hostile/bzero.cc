// bzero.
#include <strings.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { bzero(block, hidden(size)); });
}
