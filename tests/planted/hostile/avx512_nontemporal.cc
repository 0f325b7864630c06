// AVX-512 stores that bypass the caches, where the processor has them.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    if (!__builtin_cpu_supports("avx512f")) return store_zeros(block, size);
    char* to = block;
    for (; to + 64 <= block + size; to += 64)
      asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovntdq %%zmm0, (%0)" : : "r"(to) : "memory", "xmm0");
    asm volatile("sfence; vzeroupper" : : : "memory");
    store_zeros(to, static_cast<std::size_t>(block + size - to));
  });
}
