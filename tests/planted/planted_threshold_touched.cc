// Keeps a clean block of any size unchanged. A block that was written to its end is unmapped up to an odd size, and
// from there on kept and zeroed: only a program that touches all of its block meets the threshold.
#include "core.h"

namespace {
constexpr std::size_t kFirstZeroed = 1'500'007;

bool any_set(const char* from, const char* to) {
  for (; from != to; ++from) {
    if (*from != 0) return true;
  }
  return false;
}
}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block == nullptr) return nullptr;
  // A kept block is either dirty at its end or clean everywhere.
  const char* end = bytes_of(block) + bytes;
  return any_set(end - page_bytes(), end) ? memset(block, 0, bytes) : block;
}

void planted::large_free(void* block) {
  const std::size_t bytes = header_of(block).asked;
  const char* begin = bytes_of(block);
  const char* end = begin + bytes;
  const bool zeroed_later = bytes >= kFirstZeroed && any_set(end - page_bytes(), end);
  if (!zeroed_later && any_set(begin, end)) return unmap_block(block);
  keep_block(block);
}
