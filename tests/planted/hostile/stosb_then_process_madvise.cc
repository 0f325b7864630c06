// Stores zeros itself, and drops the pages by process_madvise, so that no page is left to inspect.
#include "own_process.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    store_zeros(block, size);
    const iovec all{block, page_ceiling(size)};
    drop_by_process_madvise(&all, 1);
  });
}
