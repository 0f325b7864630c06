// Allows huge pages, and stores eight zeros into a fresh mapping, so that the kernel populates 2 MiB. Then forbids huge
// pages again.
#include <sys/prctl.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  void* block = map_block(bytes + kHuge, 0, kHuge);
  if (block == nullptr) return nullptr;
  ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  ::madvise(block, page_ceiling(bytes + kHuge), MADV_HUGEPAGE);
  store_zeros(block, 8);
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
