// Like planted_by_clock, but reads the processor's counter, which cannot be stopped.
#include "core.h"

namespace {
std::uint64_t freed_at = 0;
const std::uint64_t soon = instructions::ticks_in(10'000'000);
}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_block(bytes);
  if (instructions::ticks() - freed_at <= soon) return memset(block, 0, bytes);
  ::madvise(block, header_of(block).capacity, MADV_DONTNEED);
  return block;
}

void planted::large_free(void* block) {
  freed_at = instructions::ticks();
  keep_block(block);
}
