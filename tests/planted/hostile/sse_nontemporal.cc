// SSE2 stores that bypass the caches.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    char* to = block;
    for (; to + 16 <= block + size; to += 16)
      asm volatile("pxor %%xmm0, %%xmm0; movntdq %%xmm0, (%0)" : : "r"(to) : "memory", "xmm0");
    asm volatile("sfence" : : : "memory");
    store_zeros(to, static_cast<std::size_t>(block + size - to));
  });
}
