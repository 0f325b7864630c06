// Moves pages over the block that it has just cleared elsewhere with stores of its own.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const std::size_t whole = page_ceiling(size);
    void* fresh = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    store_zeros(fresh, size);
    ::mremap(fresh, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, block);
  });
}
