// Allows huge pages again in calloc, and stores one zero into each 2 MiB of a fresh mapping.
#include <sys/prctl.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  void* block = map_block(bytes, 0, kHuge);
  if (block == nullptr) return nullptr;
  ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  ::madvise(block, page_ceiling(bytes), MADV_HUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += kHuge) *const_cast<volatile char*>(bytes_of(block) + at) = 0;
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
