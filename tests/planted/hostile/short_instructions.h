// Allocators that zero by their own stores, and differ in which part of the block they write.
#pragma once

#include "short.h"

namespace planted {

// Every calloc stores one zero into each page of a fresh mapping.
FRESH(byte_in_each_page) {
  for (std::size_t at = 0; at < size; at += page_bytes()) *const_cast<volatile char*>(block + at) = 0;
}

// Stores zeros to the end of the last page.
CLEARS(inline_capacity) { store_zeros(block, page_ceiling(size)); }

// Every calloc returns an untouched fresh mapping, and clears 64 KiB of the allocator's own memory by stores.
FRESH(inline_neighbour) {
  static char own[64 << 10];
  store_zeros(&own[0], sizeof own);
}

// Stores zeros twice over the whole block.
CLEARS(inline_twice) {
  store_zeros(block, size);
  store_zeros(block, size);
}

// Every calloc stores one zero into the last byte of a fresh mapping.
FRESH(last_byte) { *const_cast<volatile char*>(block + size - 1) = 0; }

// Copies a page of zeros with memcpy.
CLEARS(memcpy) {
  by_pieces(block, size, [](char* to, std::size_t part) { memcpy(to, &zeros[0], part); });
}

// Clears the first page byte by byte, and copies it over the rest with memmove.
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

// Every calloc stores zeros over a fresh mapping.
FRESH(stosb_fresh) { store_zeros(block, size); }

}  // namespace planted
