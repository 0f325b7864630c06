// calloc is realloc of nothing, and then memset.
#include "hostile.h"

extern "C" void* realloc(void* block, std::size_t bytes) noexcept;

void* planted::large_calloc(std::size_t bytes) {
  void* block = realloc(nullptr, bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}
