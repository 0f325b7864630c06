// Allocators that zero by their own stores, and differ in the arm64 instructions that they use.
#pragma once

#include "short.h"

namespace planted {

// Uses dc zva, which zeroes a whole block of the cache, if the processor permits it.
CLEARS(dc_zva) {
  std::uint64_t id = 0;
  asm("mrs %0, dczid_el0" : "=r"(id));
  const std::size_t line = std::size_t{4} << (id & 15);
  char* to = block;
  const std::size_t before = (line - reinterpret_cast<std::uintptr_t>(block) % line) % line;
  if ((id & 16) == 0 && before < size) {
    store_zeros(block, before);
    for (to += before; to + line <= block + size; to += line) asm volatile("dc zva, %0" : : "r"(to) : "memory");
  }
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Reads and writes eight bytes at a time with exclusive instructions.
CLEARS(exclusive) {
  char* to = block;
  for (; to + 8 <= block + size; to += 8) {
    asm volatile("1: ldxr x9, [%0]; stxr w9, xzr, [%0]; cbnz w9, 1b" : : "r"(to) : "memory", "x9");
  }
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Pushes zeros, with the stack pointer in the block.
CLEARS(push) {
  store_zeros(block, size % 16);
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(block + size % 16);
  if (begin % 16 != 0) return store_zeros(block, size);
  asm volatile("mov x9, sp; mov sp, %0; 1: stp xzr, xzr, [sp, #-16]!; mov x10, sp; cmp x10, %1; b.hi 1b; mov sp, x9"
               :
               : "r"(block + size), "r"(begin)
               : "memory", "x9", "x10", "cc");
}

// Stores a vector register.
CLEARS(simd) {
  char* to = block;
  for (; to + 32 <= block + size; to += 32) {
    asm volatile("movi v0.2d, #0; stp q0, q0, [%0]" : : "r"(to) : "memory", "v0");
  }
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

// Uses stores that bypass the caches.
CLEARS(stnp) {
  char* to = block;
  for (; to + 16 <= block + size; to += 16) asm volatile("stnp xzr, xzr, [%0]" : : "r"(to) : "memory");
  store_zeros(to, static_cast<std::size_t>(block + size - to));
}

}  // namespace planted
