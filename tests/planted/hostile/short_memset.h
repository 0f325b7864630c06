// Allocators that zero by forms of memset.
#pragma once

#include <strings.h>

#include <cwchar>

#include "short.h"

namespace planted {

// Calls bzero.
CLEARS(bzero) { bzero(block, hidden(size)); }

// Calls explicit_bzero.
CLEARS(explicit_bzero) { explicit_bzero(block, size); }

// Clears 16 bytes of each page of a fresh mapping with memset, and the rest by its own stores.
FRESH(memset_16_in_each_page) {
  by_pieces(block, size, [](char* page, std::size_t part) {
    const std::size_t some = part < 16 ? part : 16;
    memset(page, 0, hidden(some));
    store_zeros(page + some, part - some);
  });
}

// Clears 16 bytes of each page of a fresh mapping with memset, and nothing else.
FRESH(memset_16_only) {
  by_pieces(block, size,
            [](char* page, std::size_t part) { memset(page, 0, hidden(part < 16 ? part : std::size_t{16})); });
}

// Clears 64 bytes in each page of the kept block with memset, and then the rest by its own stores.
CLEARS(memset_64_inside_each_page) {
  by_pieces(block, size, [](char* page, std::size_t part) {
    if (part < 128) return store_zeros(page, part);
    memset(page + 32, 0, hidden(std::size_t{64}));
    store_zeros(page, 32);
    store_zeros(page + 96, part - 96);
  });
}

// Clears the first half of the pages with memset, and the rest by its own stores.
CLEARS(memset_and_inline) {
  const std::size_t first = size / 2 / page_bytes() * page_bytes();
  memset(block, 0, first);
  store_zeros(block + first, size - first);
}

// Clears two pages at a time with memset, from the end to the beginning.
CLEARS(memset_backwards) {
  for (std::size_t end = size; end > 0;) {
    const std::size_t part = end % (2 * page_bytes()) != 0 ? end % (2 * page_bytes()) : 2 * page_bytes();
    end -= part;
    memset(block + end, 0, part);
  }
}

// Clears all pages of the block with one memset, which writes beyond the block's end.
CLEARS(memset_capacity) { memset(block, 0, page_ceiling(size)); }

// Clears every other page of a fresh mapping with memset.
FRESH(memset_every_other_page) {
  for (std::size_t at = 0; at < size; at += 2 * page_bytes()) {
    memset(block + at, 0, size - at < page_bytes() ? size - at : page_bytes());
  }
}

// Makes 3,000 memsets of one byte each, scattered over one page, and clears the block by its own stores.
CLEARS(memset_many_then_inline) {
  for (std::size_t i = 0; i < 3000; ++i) memset(block + i * 7 % 4000, hidden(0), 1);
  store_zeros(block, size);
}

// Every calloc returns an untouched fresh mapping, and clears 64 KiB of the allocator's own memory with memset.
FRESH(memset_neighbour) {
  static char own[64 << 10];
  memset(&own[0], 0, hidden(sizeof own));
}

// Writes ones with memset, then zeros, so that no zero is redundant.
CLEARS(memset_one_then_zero) {
  memset(block, hidden(1), size);
  memset(block, hidden(0), size);
}

// Makes two memsets that overlap by eight pages.
CLEARS(memset_overlapping) {
  char* middle = block + size / 2 / page_bytes() * page_bytes();
  memset(block, 0, static_cast<std::size_t>(middle - block) + 4 * page_bytes());
  memset(middle - 4 * page_bytes(), 0, static_cast<std::size_t>(block + size - middle) + 4 * page_bytes());
}

// Clears the last quarter of a fresh mapping with memset.
FRESH(memset_tail) { memset(block + size - size / 4, 0, size / 4); }

// Clears the whole block with memset, twice.
CLEARS(memset_twice) {
  memset(block, hidden(0), size);
  memset(block, hidden(0), size);
}

// Calls memset with the value 256, whose low byte makes it write zeros.
CLEARS(memset_value_256) { memset(block, hidden(256), size); }

// Clears the block byte by byte, as memset_explicit does if the C library lacks it.
CLEARS(memset_volatile) {
  for (volatile char* to = block; to < block + size; ++to) *to = 0;
}

// Calls wmemset, and memset for the bytes at the end that do not make up a whole character.
CLEARS(wmemset) {
  const std::size_t whole = size / sizeof(wchar_t);
  wmemset(static_cast<wchar_t*>(static_cast<void*>(block)), L'\0', whole);
  memset(block + whole * sizeof(wchar_t), 0, size % sizeof(wchar_t));
}

}  // namespace planted
