// Every calloc returns a fresh mapping. Another thread stores zeros into this mapping 10 ms after calloc returned. free
// waits for these stores.
#include <unistd.h>

#include "helper_thread.h"

static planted::HelperThread helper([](char* block, std::size_t bytes) {
  ::usleep(10'000);
  planted::store_zeros(block, bytes);
});

void* planted::large_calloc(std::size_t bytes) {
  helper.start();
  void* block = map_block(bytes);
  if (block != nullptr) helper.begin(bytes_of(block), bytes);
  return block;
}

void planted::large_free(void* block) {
  if (block == helper.target()) helper.wait();
  unmap_block(block);
}
