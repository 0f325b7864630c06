// calloc stores zeros into the kept block. A helper thread then drops the block's pages, so that no page is left to
// inspect.
#include "helper_thread.h"

static planted::HelperThread helper([](char* block, std::size_t bytes) {
  ::madvise(block, planted::page_ceiling(bytes), MADV_DONTNEED);
});

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    helper.start();
    store_zeros(block, size);
    helper.begin(block, size);
    helper.wait();
  });
}
