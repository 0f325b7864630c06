// Reads, ands with zero and writes, each eight bytes under a lock.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    char* to = block;
    for (; to + 8 <= block + size; to += 8) asm volatile("lock andq $0, (%0)" : : "r"(to) : "memory", "cc");
    store_zeros(to, static_cast<std::size_t>(block + size - to));
  });
}
