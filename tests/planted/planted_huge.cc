// Starts each block at a huge page, asks for huge pages by madvise, and keeps the block whole.
#include "core.h"

namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  if (void* kept_block = take_kept(bytes)) return std::memset(kept_block, 0, bytes);
  const std::size_t whole = (bytes + kHuge - 1) & ~(kHuge - 1);
  void* block = map_block(whole, 0, kHuge);
  if (block == nullptr) return nullptr;
  header_of(block).asked = bytes;
  ::madvise(block, whole, MADV_HUGEPAGE);
  return block;
}

void planted::large_free(void* block) { keep_block(block); }
