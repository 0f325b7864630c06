// Stores zeros from the x87 register stack.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    char* to = block;
    for (; to + 8 <= block + size; to += 8) asm volatile("fldz; fstpl (%0)" : : "r"(to) : "memory", "st");
    store_zeros(to, static_cast<std::size_t>(block + size - to));
  });
}
