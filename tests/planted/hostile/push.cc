// Pushes zeros, with the stack pointer in the block.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    char* end = block + size;
    store_zeros(block, size % 8);
    asm volatile("mov %%rsp, %%rdx; mov %0, %%rsp; 1: pushq $0; cmp %1, %%rsp; ja 1b; mov %%rdx, %%rsp"
                 :
                 : "r"(end), "r"(block + size % 8)
                 : "memory", "rdx", "cc");
  });
}
