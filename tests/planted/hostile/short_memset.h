// memset in its forms.
#pragma once

#include <strings.h>

#include <cwchar>

#include "short.h"

namespace planted {

// bzero.
CLEARS(bzero) { bzero(block, hidden(size)); }

// explicit_bzero.
CLEARS(explicit_bzero) { explicit_bzero(block, size); }

// A fresh mapping each time; memset writes 16 bytes of each page, and stores of its own the rest.
FRESH(memset_16_in_each_page) {
  by_pieces(block, size, [](char* page, std::size_t part) {
    const std::size_t some = part < 16 ? part : 16;
    memset(page, 0, hidden(some));
    store_zeros(page + some, part - some);
  });
}

// A fresh mapping each time; memset writes 16 bytes of each page, and nothing the rest.
FRESH(memset_16_only) {
  by_pieces(block, size,
            [](char* page, std::size_t part) { memset(page, 0, hidden(part < 16 ? part : std::size_t{16})); });
}

// Clears the kept block by stores of its own, but for 64 bytes in each page, which memset has written before.
CLEARS(memset_64_inside_each_page) {
  by_pieces(block, size, [](char* page, std::size_t part) {
    if (part < 128) return store_zeros(page, part);
    memset(page + 32, 0, hidden(std::size_t{64}));
    store_zeros(page, 32);
    store_zeros(page + 96, part - 96);
  });
}

// memset of the first half (of pages), stores of its own for the rest.
CLEARS(memset_and_inline) {
  const std::size_t first = size / 2 / page_bytes() * page_bytes();
  memset(block, 0, first);
  store_zeros(block + first, size - first);
}

// memset of 8 KiB at a time, from the end to the beginning.
CLEARS(memset_backwards) {
  for (std::size_t end = size; end > 0;) {
    const std::size_t part = end % (2 * page_bytes()) != 0 ? end % (2 * page_bytes()) : 2 * page_bytes();
    end -= part;
    memset(block + end, 0, part);
  }
}

// memset of all the pages of the block, beyond its end.
CLEARS(memset_capacity) { memset(block, 0, page_ceiling(size)); }

// A fresh mapping each time; memset writes every other page of it.
FRESH(memset_every_other_page) {
  for (std::size_t at = 0; at < size; at += 2 * page_bytes()) {
    memset(block + at, 0, size - at < page_bytes() ? size - at : page_bytes());
  }
}

// 3,000 memsets of one byte each, in no order, and stores of its own for all but one page of the block.
CLEARS(memset_many_then_inline) {
  for (std::size_t i = 0; i < 3000; ++i) memset(block + i * 7 % 4000, hidden(0), 1);
  store_zeros(block, size);
}

// A fresh mapping each time, untouched; memset clears 64 KiB of the allocator's own memory.
FRESH(memset_neighbour) {
  static char own[64 << 10];
  memset(&own[0], 0, hidden(sizeof own));
}

// Writes ones with memset, then zeros: no zero is redundant.
CLEARS(memset_one_then_zero) {
  memset(block, hidden(1), size);
  memset(block, hidden(0), size);
}

// Two memsets that overlap by eight pages.
CLEARS(memset_overlapping) {
  char* middle = block + size / 2 / page_bytes() * page_bytes();
  memset(block, 0, static_cast<std::size_t>(middle - block) + 4 * page_bytes());
  memset(middle - 4 * page_bytes(), 0, static_cast<std::size_t>(block + size - middle) + 4 * page_bytes());
}

// A fresh mapping each time; memset writes the last quarter of it.
FRESH(memset_tail) { memset(block + size - size / 4, 0, size / 4); }

// memset of the whole block, twice.
CLEARS(memset_twice) {
  memset(block, hidden(0), size);
  memset(block, hidden(0), size);
}

// memset takes the low byte of its value: 256 writes zeros.
CLEARS(memset_value_256) { memset(block, hidden(256), size); }

// Zeroes byte by byte, as memset_explicit does where the library does not provide it.
CLEARS(memset_volatile) {
  for (volatile char* to = block; to < block + size; ++to) *to = 0;
}

// wmemset, and memset of the bytes that do not make up a whole character.
CLEARS(wmemset) {
  const std::size_t whole = size / sizeof(wchar_t);
  wmemset(static_cast<wchar_t*>(static_cast<void*>(block)), L'\0', whole);
  memset(block + whole * sizeof(wchar_t), 0, size % sizeof(wchar_t));
}

}  // namespace planted
