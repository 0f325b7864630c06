// Keeps every block, and calls madvise for its pages in free. From kReturnsFrom bytes on, the advice returns the pages;
// below this size, the advice only leaves them out of core dumps, so that calloc must zero them.
#include "core.h"

namespace {

constexpr std::size_t kReturnsFrom = 700'001;

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block != nullptr && bytes < kReturnsFrom) std::memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) {
  const Header& header = header_of(block);
  ::madvise(block, header.capacity, header.asked < kReturnsFrom ? MADV_DONTDUMP : MADV_DONTNEED);
  keep_block(block);
}
