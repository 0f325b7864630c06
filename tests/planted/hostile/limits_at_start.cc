// Limits the address space before the program begins, then clears a kept block by memset.
#include "limit.h"

[[gnu::constructor]] static void limit() { planted::limit_to_what_is_there(RLIMIT_AS); }

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
