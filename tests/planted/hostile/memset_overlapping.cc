// Two memsets that overlap by eight pages.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    char* middle = block + size / 2 / kPage * kPage;
    memset(block, 0, static_cast<std::size_t>(middle - block) + 4 * kPage);
    memset(middle - 4 * kPage, 0, static_cast<std::size_t>(block + size - middle) + 4 * kPage);
  });
}
