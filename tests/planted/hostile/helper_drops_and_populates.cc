// While calloc waits, a helper thread drops the pages of the kept block and has the kernel populate the pages again.
// calloc stores nothing.
#include "helper_thread.h"

static planted::HelperThread helper([](char* block, std::size_t bytes) {
  ::madvise(block, planted::page_ceiling(bytes), MADV_DONTNEED);
  ::madvise(block, planted::page_ceiling(bytes), 23);  // MADV_POPULATE_WRITE
});

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    helper.start();
    helper.begin(block, size);
    helper.wait();
  });
}
