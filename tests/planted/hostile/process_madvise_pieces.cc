// Drops the block's pages in two pieces by one process_madvise, then has the kernel populate the pages. Stores nothing.
#include "own_process.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const iovec pieces[]{{block, page_bytes()}, {block + page_bytes(), page_ceiling(size) - page_bytes()}};
    drop_by_process_madvise(&pieces[0], 2);
    ::madvise(block, page_ceiling(size), 23);  // MADV_POPULATE_WRITE
  });
}
