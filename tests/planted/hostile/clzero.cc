// clzero, cache line by cache line, where the processor has it (AMD).
#include <cpuid.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    const bool has = __get_cpuid(0x8000'0008, &eax, &ebx, &ecx, &edx) != 0 && (ebx & 1) != 0;
    char* to = block;
    for (; has && to + 64 <= block + size; to += 64) asm volatile("clzero" : : "a"(to) : "memory");
    asm volatile("sfence" : : : "memory");
    store_zeros(to, static_cast<std::size_t>(block + size - to));
  });
}
