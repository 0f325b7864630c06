#pragma once

/// Parts that the hostile allocators share. Each file in this folder is one allocator based on core.h. The allocator
/// zeroes, or seems to zero, in a way that can mislead an instrument. tests/support/hostile_truth.py states the true
/// behavior of each allocator. Unless a file says otherwise, free keeps the block and its contents for the next call
/// (hostile.cc).

#include "../core.h"

namespace planted {

/// Returns the kept block or a fresh mapping, after `clear(block, bytes)` has cleared all of it.
template <typename Clear>
void* cleared(std::size_t bytes, Clear clear) {
  void* block = take_or_map(bytes);
  if (block != nullptr) clear(bytes_of(block), bytes);
  return block;
}

/// Hides a value from the compiler.
template <typename T>
T hidden(T value) {
  volatile T copy = value;
  return copy;
}

/// A page of zeros to copy from, large enough for any page size.
alignas(kMostPageBytes) inline const char zeros[kMostPageBytes] = {};

/// Copies zeros in pieces. Calls `copy(target, bytes)` for at most a page at a time.
template <typename Copy>
void by_pieces(char* block, std::size_t bytes, Copy copy) {
  for (std::size_t at = 0; at < bytes; at += page_bytes())
    copy(block + at, bytes - at < page_bytes() ? bytes - at : page_bytes());
}

}  // namespace planted
