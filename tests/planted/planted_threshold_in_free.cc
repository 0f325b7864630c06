// Clears blocks in free with memset from a certain size on. No grid of sizes hits this size by chance. All other
// behavior is the same below and above this size.
#include "core.h"

namespace {
constexpr std::size_t kFirstCleared = 654'321;
}

void* planted::large_calloc(std::size_t bytes) { return map_block(bytes); }

void planted::large_free(void* block) {
  if (header_of(block).asked >= kFirstCleared) memset(block, 0, header_of(block).asked);
  unmap_block(block);
}
