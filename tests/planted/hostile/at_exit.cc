// Every calloc returns an untouched fresh mapping. As the process exits, clears 64 KiB with memset.
#include "hostile.h"

namespace {

char own[64 << 10];
[[gnu::destructor]] void clear() { memset(&own[0], 0, planted::hidden(sizeof own)); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) { return map_block(bytes); }

void planted::large_free(void* block) { unmap_block(block); }
