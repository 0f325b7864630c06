// Zeroes kept blocks with memset above an odd size. Up to that size, every block is a fresh mapping.
#include "core.h"

namespace {
constexpr std::size_t kLastClean = 1'000'003;
}

void* planted::large_calloc(std::size_t bytes) {
  if (bytes <= kLastClean) return map_block(bytes);
  void* block = take_or_map(bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}

void planted::large_free(void* block) {
  if (header_of(block).asked <= kLastClean) return unmap_block(block);
  keep_block(block);
}
