// Stores of one's own: the instructions, and how much of the block.
#pragma once

#include <cpuid.h>

#include "short.h"

namespace planted {

// AVX2 stores.
CLEARS(avx2) {
  if (!__builtin_cpu_supports("avx2")) return store_zeros(block, size);
  char* to = block;
  for (; to + 32 <= block + size; to += 32)
    asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovdqu %%ymm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("vzeroupper" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// AVX-512 stores, where the processor has them.
CLEARS(avx512) {
  if (!__builtin_cpu_supports("avx512f")) return store_zeros(block, size);
  char* to = block;
  for (; to + 64 <= block + size; to += 64)
    asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovdqu64 %%zmm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("vzeroupper" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// AVX-512 stores that bypass the caches, where the processor has them.
CLEARS(avx512_nontemporal) {
  if (!__builtin_cpu_supports("avx512f")) return store_zeros(block, size);
  char* to = block;
  for (; to + 64 <= block + size; to += 64)
    asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0; vmovntdq %%zmm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("sfence; vzeroupper" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// A fresh mapping each time; one zero is stored into each page.
FRESH(byte_in_each_page) {
  for (std::size_t at = 0; at < size; at += page_bytes()) *const_cast<volatile char*>(block + at) = 0;
}

// clzero, cache line by cache line, where the processor has it (AMD).
CLEARS(clzero) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool has = __get_cpuid(0x8000'0008, &eax, &ebx, &ecx, &edx) != 0 && (ebx & 1) != 0;
  char* to = block;
  for (; has && to + 64 <= block + size; to += 64) asm volatile("clzero" : : "a"(to) : "memory");
  asm volatile("sfence" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Stores of its own, to the end of the last page.
CLEARS(inline_capacity) { store_zeros(block, page_ceiling(size)); }

// A fresh mapping each time, untouched; stores of its own clear 64 KiB of the allocator's own memory.
FRESH(inline_neighbour) {
  static char own[64 << 10];
  store_zeros(&own[0], sizeof own);
}

// Stores of its own, twice.
CLEARS(inline_twice) {
  store_zeros(block, size);
  store_zeros(block, size);
}

// A fresh mapping each time; one zero is stored into its last byte.
FRESH(last_byte) { *const_cast<volatile char*>(block + size - 1) = 0; }

// Reads, ands with zero and writes, each eight bytes under a lock.
CLEARS(lock_and) {
  char* to = block;
  for (; to + 8 <= block + size; to += 8) asm volatile("lock andq $0, (%0)" : : "r"(to) : "memory", "cc");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// memcpy from a page of zeros.
CLEARS(memcpy) {
  by_pieces(block, size, [](char* to, std::size_t part) { memcpy(to, &zeros[0], part); });
}

// memmove of the block's own first page, which it has cleared byte by byte.
CLEARS(memmove) {
  const std::size_t first = size < page_bytes() ? size : page_bytes();
  store_zeros(block, first);
  for (std::size_t done = first; done < size;) {
    const std::size_t part = size - done < done ? size - done : done;
    memmove(block + done, block, part);
    done += part;
  }
}

// movnti: eight bytes at a time, bypassing the caches.
CLEARS(movnti) {
  char* to = block;
  for (; to + 8 <= block + size; to += 8) asm volatile("movnti %1, (%0)" : : "r"(to), "r"(0L) : "memory");
  asm volatile("sfence" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Clears only the pages whose first byte is non-zero.
CLEARS(only_dirty_pages) {
  by_pieces(block, size, [](char* page, std::size_t part) {
    if (*page != 0) store_zeros(page, part);
  });
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

// SSE2 stores that bypass the caches.
CLEARS(sse_nontemporal) {
  char* to = block;
  for (; to + 16 <= block + size; to += 16)
    asm volatile("pxor %%xmm0, %%xmm0; movntdq %%xmm0, (%0)" : : "r"(to) : "memory", "xmm0");
  asm volatile("sfence" : : : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// rep stosb over a fresh mapping each time.
FRESH(stosb_fresh) { store_zeros(block, size); }

// rep stosq, over fresh and populated memory alike.
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
