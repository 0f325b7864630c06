// Drops the block's pages by process_madvise(MADV_DONTNEED), then has the kernel populate the pages. Stores nothing.
#include "own_process.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const iovec all{block, page_ceiling(size)};
    drop_by_process_madvise(&all, 1);
    ::madvise(block, all.iov_len, 23);  // MADV_POPULATE_WRITE
  });
}
