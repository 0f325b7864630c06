// Keeps blocks that are a quarter longer than requested, and zeroes the whole blocks with memset.
#include "core.h"

namespace {
std::size_t rounded(std::size_t bytes) { return bytes + bytes / 4; }
}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(rounded(bytes));
  return block != nullptr ? memset(block, 0, rounded(bytes)) : nullptr;
}

void planted::large_free(void* block) { keep_block(block); }
