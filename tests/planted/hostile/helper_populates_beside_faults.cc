// A helper thread populates a fresh mapping, while calloc takes the same number of page faults elsewhere. calloc stores
// no zeros.
#include "helper_thread.h"

static planted::HelperThread helper([](char* block, std::size_t bytes) {
  ::madvise(block, planted::page_ceiling(bytes), 23);  // MADV_POPULATE_WRITE
});

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  void* other = map_block(bytes);
  if (block == nullptr || other == nullptr) return block;
  helper.start();
  for (std::size_t at = 0; at < bytes; at += page_bytes()) *const_cast<volatile char*>(bytes_of(other) + at) = 1;
  helper.begin(bytes_of(block), bytes);
  helper.wait();
  unmap_block(other);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
