// Locks all future mappings in its constructor, and clears blocks by its own stores.
#include "hostile.h"

namespace {

[[gnu::constructor]] void lock_all() { ::mlockall(MCL_CURRENT | MCL_FUTURE); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr) store_zeros(block, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
