// free drops all pages except the first, which calloc clears itself after a wait of at least 20 ms. On a slow or busy
// machine, clearing a single page may take a tenth of a millisecond, so the wait is much longer.
#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    for (int i = 0; i < 500'000; ++i) instructions::pause();
    store_zeros(block, size < page_bytes() ? size : page_bytes());
  });
}

void planted::large_free(void* block) {
  ::madvise(bytes_of(block) + page_bytes(), header_of(block).capacity - page_bytes(), MADV_DONTNEED);
  keep_block(block);
}
