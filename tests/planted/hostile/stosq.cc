// rep stosq, over fresh and populated memory alike.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    void* to = block;
    std::size_t words = size / 8;
    asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0L) : "memory");
    store_zeros(to, size % 8);
  });
}
