// Zeroes kept blocks with memset from a prime size that no grid of sizes hits by chance.
#include "core.h"

namespace {
constexpr std::size_t kFirstZeroed = 1'299'709;  // the 100,000th prime
}

void* planted::large_calloc(std::size_t bytes) {
  if (bytes < kFirstZeroed) return map_block(bytes);
  void* block = take_or_map(bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}

void planted::large_free(void* block) {
  if (header_of(block).asked < kFirstZeroed) return unmap_block(block);
  keep_block(block);
}
