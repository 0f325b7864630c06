#pragma once

#include <cstdlib>
#include <cstring>

/// Keeps the compiler from seeing what becomes of a block.
inline void escape(void* block) { asm volatile("" : : "r"(block) : "memory"); }

/// calloc of so many bytes, each written to in its first page, and freed at once.
inline void calloc_and_free(int calls, std::size_t bytes) {
  for (int i = 0; i < calls; ++i) {
    void* block = std::calloc(1, bytes);
    escape(block);
    *static_cast<volatile char*>(block) = 1;
    std::free(block);
  }
}
