// Another thread clears the block with memset, while calloc waits.
#include "helper_thread.h"

static planted::HelperThread helper([](char* block, std::size_t bytes) { memset(block, 0, bytes); });

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    helper.start();
    helper.begin(block, size);
    helper.wait();
  });
}
