// Stores of one's own: how much of the block.
#pragma once

#include "short.h"

namespace planted {

// A fresh mapping each time; one zero is stored into each page.
FRESH(byte_in_each_page) {
  for (std::size_t at = 0; at < size; at += page_bytes()) *const_cast<volatile char*>(block + at) = 0;
}

// Stores of its own, to the end of the last page.
CLEARS(inline_capacity) { store_zeros(block, page_ceiling(size)); }

// A fresh mapping each time, untouched; stores of its own clear 64 KiB of the allocator's own memory.
FRESH(inline_neighbour) {
  static char own[64 << 10];
  store_zeros(&own[0], sizeof own);
}

// Stores of its own, twice.
CLEARS(inline_twice) {
  store_zeros(block, size);
  store_zeros(block, size);
}

// A fresh mapping each time; one zero is stored into its last byte.
FRESH(last_byte) { *const_cast<volatile char*>(block + size - 1) = 0; }

// memcpy from a page of zeros.
CLEARS(memcpy) {
  by_pieces(block, size, [](char* to, std::size_t part) { memcpy(to, &zeros[0], part); });
}

// memmove of the block's own first page, which it has cleared byte by byte.
CLEARS(memmove) {
  const std::size_t first = size < page_bytes() ? size : page_bytes();
  store_zeros(block, first);
  for (std::size_t done = first; done < size;) {
    const std::size_t part = size - done < done ? size - done : done;
    memmove(block + done, block, part);
    done += part;
  }
}

// Clears only the pages whose first byte is non-zero.
CLEARS(only_dirty_pages) {
  by_pieces(block, size, [](char* page, std::size_t part) {
    if (*page != 0) store_zeros(page, part);
  });
}

// Stores of its own over a fresh mapping each time.
FRESH(stosb_fresh) { store_zeros(block, size); }

}  // namespace planted
