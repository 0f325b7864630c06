// AVX2 stores.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    if (!__builtin_cpu_supports("avx2")) return store_zeros(block, size);
    char* to = block;
    for (; to + 32 <= block + size; to += 32)
      asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovdqu %%ymm0, (%0)" : : "r"(to) : "memory", "xmm0");
    asm volatile("vzeroupper" : : : "memory");
    store_zeros(to, static_cast<std::size_t>(block + size - to));
  });
}
