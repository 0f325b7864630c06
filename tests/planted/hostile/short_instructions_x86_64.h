// Allocators that zero by their own stores, and differ in the x86-64 instructions that they use.
#pragma once

#include <cpuid.h>

#include "short.h"

namespace planted {

// Uses AVX2 stores.
CLEARS(avx2) {
  if (!__builtin_cpu_supports("avx2")) return store_zeros(block, size);
  char* to = block;
  for (; to + 32 <= block + size; to += 32)
    asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovdqu %%ymm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("vzeroupper" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Uses AVX-512 stores, if the processor has them.
CLEARS(avx512) {
  if (!__builtin_cpu_supports("avx512f")) return store_zeros(block, size);
  char* to = block;
  for (; to + 64 <= block + size; to += 64)
    asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovdqu64 %%zmm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("vzeroupper" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Uses AVX-512 stores that bypass the caches, if the processor has them.
CLEARS(avx512_nontemporal) {
  if (!__builtin_cpu_supports("avx512f")) return store_zeros(block, size);
  char* to = block;
  for (; to + 64 <= block + size; to += 64)
    asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovntdq %%zmm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("sfence; vzeroupper" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Uses clzero for each cache line, if the processor has it (AMD).
CLEARS(clzero) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool has = __get_cpuid(0x8000'0008, &eax, &ebx, &ecx, &edx) != 0 && (ebx & 1) != 0;
  char* to = block;
  for (; has && to + 64 <= block + size; to += 64) asm volatile("clzero" : : "a"(to) : "memory");
  asm volatile("sfence" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Clears eight bytes at a time by a locked `and` with zero. This instruction reads and writes the bytes.
CLEARS(lock_and) {
  char* to = block;
  for (; to + 8 <= block + size; to += 8) asm volatile("lock andq $0, (%0)" : : "r"(to) : "memory", "cc");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Uses movnti, which stores eight bytes at a time and bypasses the caches.
CLEARS(movnti) {
  char* to = block;
  for (; to + 8 <= block + size; to += 8) asm volatile("movnti %1, (%0)" : : "r"(to), "r"(0L) : "memory");
  asm volatile("sfence" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Pushes zeros, with the stack pointer in the block.
CLEARS(push) {
  char* end = block + size;
  store_zeros(block, size % 8);
  asm volatile("mov %%rsp, %%rdx; mov %0, %%rsp; 1: pushq $0; cmp %1, %%rsp; ja 1b; mov %%rdx, %%rsp"
               :
               : "r"(end), "r"(block + size % 8)
               : "memory", "rdx", "cc");
}

// Uses SSE2 stores that bypass the caches.
CLEARS(sse_nontemporal) {
  char* to = block;
  for (; to + 16 <= block + size; to += 16)
    asm volatile("pxor %%xmm0, %%xmm0; movntdq %%xmm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("sfence" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Uses rep stosq, over both fresh and populated memory.
CLEARS(stosq) {
  void* to = block;
  std::size_t words = size / 8;
  asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0L) : "memory");
  store_zeros(to, size % 8);
}

// Stores zeros from the x87 register stack.
CLEARS(x87) {
  char* to = block;
  for (; to + 8 <= block + size; to += 8) asm volatile("fldz; fstpl (%0)" : : "r"(to) : "memory", "st");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

}  // namespace planted
