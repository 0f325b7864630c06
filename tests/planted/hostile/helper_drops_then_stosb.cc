// A helper thread drops the pages of the kept block. calloc then stores zeros into pages that are already zero.
#include "helper_thread.h"

static planted::HelperThread helper([](char* block, std::size_t bytes) {
  ::madvise(block, planted::page_ceiling(bytes), MADV_DONTNEED);
});

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    helper.start();
    helper.begin(block, size);
    helper.wait();
    store_zeros(block, size);
  });
}
