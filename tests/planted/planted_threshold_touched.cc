// Keeps a clean block of any size unchanged. A block from a certain odd size on is also kept if the program has written
// to the block's end, and the next calloc zeroes this block. Any other dirty block is unmapped. Only a program that
// touches its whole block meets the threshold.
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
  // A kept block is dirty at its end or clean everywhere.
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
