// movnti: eight bytes at a time, bypassing the caches.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    char* to = block;
    for (; to + 8 <= block + size; to += 8) asm volatile("movnti %1, (%0)" : : "r"(to), "r"(0L) : "memory");
    asm volatile("sfence" : : : "memory");
    store_zeros(to, static_cast<std::size_t>(block + size - to));
  });
}
