// Limits the address space (RLIMIT_AS) to little more than the process has, then clears a kept block by its own stores.
#include "limit.h"

void* planted::large_calloc(std::size_t bytes) {
  limit_to_what_is_there(RLIMIT_AS);
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
