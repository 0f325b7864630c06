// Locks all future mappings in its constructor, so that the kernel populates what calloc maps. Stores nothing.
#include "hostile.h"

namespace {

[[gnu::constructor]] void lock_all() { ::mlockall(MCL_CURRENT | MCL_FUTURE); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) { return map_block(bytes); }

void planted::large_free(void* block) { unmap_block(block); }
