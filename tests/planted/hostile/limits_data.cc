// Limits the data (RLIMIT_DATA) to little more than the process has, then clears a kept block by its own stores.
#include "limit.h"

void* planted::large_calloc(std::size_t bytes) {
  limit_to_what_is_there(RLIMIT_DATA);
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
