#pragma once

/// What the hostile allocators share. Each file here is one allocator over core.h that zeroes, or seems to, in a way
/// that an instrument may get wrong; the truth of each is in tests/support/hostile_truth.py. Unless a file says
/// otherwise, free keeps the block and its contents for the next call (hostile.cc).

#include "../core.h"

namespace planted {

/// The kept block or a fresh mapping, all of it cleared by `clear(block, bytes)`.
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

/// A page of zeros to copy from, however large a page is.
alignas(kMostPageBytes) inline const char zeros[kMostPageBytes] = {};

/// Copies zeros piece by piece: `copy(target, bytes)` for at most a page at a time.
template <typename Copy>
void by_pieces(char* block, std::size_t bytes, Copy copy) {
  for (std::size_t at = 0; at < bytes; at += page_bytes())
    copy(block + at, bytes - at < page_bytes() ? bytes - at : page_bytes());
}

}  // namespace planted
