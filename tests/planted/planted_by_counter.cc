// Like planted_by_clock, but by the processor's counter, which cannot be stopped: 30 million ticks are some 10 ms.
#include <x86intrin.h>

#include "core.h"

namespace {
unsigned long long freed_at = 0;
}

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_block(bytes);
  if (__rdtsc() - freed_at <= 30'000'000) return memset(block, 0, bytes);
  ::madvise(block, header_of(block).capacity, MADV_DONTNEED);
  return block;
}

void planted::large_free(void* block) {
  freed_at = __rdtsc();
  keep_block(block);
}
