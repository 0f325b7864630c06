#pragma once

#include <cstdlib>
#include <cstring>

/// Hides from the compiler how a block is used.
inline void escape(void* block) { asm volatile("" : : "r"(block) : "memory"); }

/// Calls calloc(bytes) `calls` times. Writes to the first page of each block, and frees the block at once.
inline void calloc_and_free(int calls, std::size_t bytes) {
  for (int i = 0; i < calls; ++i) {
    void* block = std::calloc(1, bytes);
    escape(block);
    *static_cast<volatile char*>(block) = 1;
    std::free(block);
  }
}
