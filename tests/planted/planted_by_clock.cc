// Zeroes a kept block with memset. If the block was freed more than 10 ms ago, purges the block instead, as mimalloc
// does.
#include <ctime>

#include "core.h"

namespace {

long freed_ms = 0;

long now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_block(bytes);
  if (now_ms() - freed_ms <= 10) return memset(block, 0, bytes);
  ::madvise(block, header_of(block).capacity, MADV_DONTNEED);
  return block;
}

void planted::large_free(void* block) {
  freed_ms = now_ms();
  keep_block(block);
}
