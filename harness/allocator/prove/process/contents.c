#define _GNU_SOURCE
#include "prove/process/contents.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "prove/process/own.h"

enum {
  kFirstBytes = 64,
  kTailBytes = 32,
  kSampled = 512,
  kLookUp = 1 << 20,
  kWindow = 512,
  kSparse = 16,
  kSpan = 4096
};

typedef uint64_t words __attribute__((vector_size(16), aligned(1), may_alias));

/* A part of a block: [from, to). */
struct part {
  uint64_t from;
  uint64_t to;
};

static const uint64_t kOnes = 0x0101010101010101U;
static const uint64_t kStep = 0x9E3779B97F4A7C15U;

static uint64_t word_at(uint32_t key, uint64_t word) {
  uint64_t state = key;
  return (random_bits(&state) + word * kStep) | kOnes;
}

static char byte_at(uint32_t key, uint64_t at) { return (char)(word_at(key, at / 8) >> at % 8 * 8); }

static words first_words(uint32_t key, uint64_t word) {
  uint64_t state = key;
  const uint64_t base = random_bits(&state) + word * kStep;
  return (words){base, base + kStep};
}

static void write_part(char* block, struct part part, uint32_t key) {
  uint64_t at = part.from;
  for (; at < part.to && at % sizeof(words) != 0; ++at) block[at] = byte_at(key, at);
  words next = first_words(key, at / 8);
  for (; at + sizeof(words) <= part.to; at += sizeof(words), next += 2 * kStep)
    *(words*)(void*)(block + at) = next | kOnes;
  for (; at < part.to; ++at) block[at] = byte_at(key, at);
}

static int64_t wrong_in(const char* block, uint64_t from, uint64_t to, uint32_t key) {
  for (uint64_t at = from; at < to; ++at) {
    if (block[at] != byte_at(key, at)) return (int64_t)at;
  }
  return kAllRight;
}

static int64_t verify_part(const char* block, struct part part, uint32_t key) {
  uint64_t at = part.from;
  while (at < part.to && at % sizeof(words) != 0) ++at;
  const int64_t early = wrong_in(block, part.from, at, key);
  if (early >= 0) return early;
  words next = first_words(key, at / 8);
  while (at + sizeof(words) <= part.to) {
    const uint64_t begin = at;
    const uint64_t end = part.to - at > kSpan ? at + kSpan : part.to;
    words wrong = {0};
    for (; at + sizeof(words) <= end; at += sizeof(words), next += 2 * kStep) {
      wrong |= *(const words*)(const void*)(block + at) ^ (next | kOnes);
    }
    if ((wrong[0] | wrong[1]) != 0) return wrong_in(block, begin, at, key);
  }
  return wrong_in(block, at, part.to, key);
}

/* Reads each byte of [from, to). */
static int64_t read_nonzero(const char* block, uint64_t from, uint64_t to) {
  uint64_t at = from;
  while (at + sizeof(words) <= to) {
    const uint64_t begin = at;
    const uint64_t end = to - at > kSpan ? at + kSpan : to;
    words seen = {0};
    for (; at + sizeof(words) <= end; at += sizeof(words)) seen |= *(const words*)(const void*)(block + at);
    if ((seen[0] | seen[1]) == 0) continue;
    for (at = begin; block[at] == 0;) ++at;
    return (int64_t)at;
  }
  for (; at < to; ++at) {
    if (block[at] != 0) return (int64_t)at;
  }
  return kAllRight;
}

static int pagemap = -2;

void forget_pagemap(void) {
  if (pagemap >= 0) close(pagemap);
  pagemap = -2;
}

/* Reads the page table entries of `pages` pages from address `page` on. If the entries cannot be read, all pages count
 * as populated. */
static void look_up(uintptr_t page, uint64_t pages, uint64_t* entries) {
  if (pagemap == -2) pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const size_t bytes = pages * sizeof *entries;
  const off_t at = (off_t)(page / page_bytes() * sizeof *entries);
  if (pagemap < 0 || pread(pagemap, entries, bytes, at) != (ssize_t)bytes) memset(entries, 0xFF, bytes);
}

static int is_populated(uint64_t entry) { return (entry >> 62) != 0; /* present or swapped */ }

int64_t first_nonzero(const char* block, uint64_t from, uint64_t to) {
  if (from >= to) return kAllRight;
  if (to - from < kLookUp) return read_nonzero(block, from, to);
  const uint64_t page = page_bytes();
  uint64_t entries[kWindow];
  uint64_t at = from;
  while (at < to) {
    const uintptr_t first = ((uintptr_t)block + at) / page * page;
    const uintptr_t last = ((uintptr_t)block + to - 1) / page * page;
    uint64_t pages = (last - first) / page + 1;
    if (pages > kWindow) pages = kWindow;
    look_up(first, pages, entries);
    for (uint64_t i = 0; i < pages && at < to; ++i) {
      uint64_t end = first + (i + 1) * page - (uintptr_t)block;
      if (end > to) end = to;
      if (is_populated(entries[i]) || (first / page + i) % kSparse == 0 || at == from || end == to) {
        const int64_t found = read_nonzero(block, at, end);
        if (found >= 0) return found;
      }
      at = end;
    }
  }
  return kAllRight;
}

uint64_t nonzero_bytes(const char* block, uint64_t from, uint64_t to) {
  uint64_t sum = 0;
  if (to - from > (uint64_t)1 << 30) to = from + ((uint64_t)1 << 30);
  for (uint64_t at = from; at < to; ++at) sum += block[at] != 0;
  return sum;
}

uint64_t whole_pages(const char* block, uint64_t bytes, uint64_t* populated) {
  const uint64_t page = page_bytes();
  const uintptr_t first = ((uintptr_t)block + page - 1) / page * page;
  const uintptr_t end = ((uintptr_t)block + bytes) / page * page;
  const uint64_t pages = end > first ? (end - first) / page : 0;
  uint64_t entries[kWindow];
  *populated = 0;
  for (uint64_t done = 0; done < pages; done += kWindow) {
    const uint64_t some = pages - done < kWindow ? pages - done : kWindow;
    look_up(first + done * page, some, entries);
    for (uint64_t i = 0; i < some; ++i) *populated += (uint64_t)is_populated(entries[i]);
  }
  return pages;
}

/* Stores the parts of a block that a fill writes. Returns their number. */
static int parts_of(enum fill fill, uint64_t bytes, struct part parts[2]) {
  parts[0] = (struct part){0, bytes};
  switch (fill) {
    case kFillAll:
    case kFillUsable:
      return 1;
    case kFillLastPage:
      if (bytes > kSpan) parts[0].from = bytes - kSpan;
      return 1;
    case kFillTail:
      if (bytes > kTailBytes) parts[0].from = bytes - kTailBytes;
      return 1;
    case kFillBut512:
      parts[0].from = bytes < kSampled ? bytes : kSampled;
      return 1;
    case kFillFirst:
      if (bytes > kFirstBytes) parts[0].to = kFirstBytes;
      return 1;
    case kFillEnds:
      if (bytes <= (uint64_t)2 * kSpan) return 1;
      parts[0].to = kSpan;
      parts[1] = (struct part){bytes - kSpan, bytes};
      return 2;
    default:
      return 0;
  }
}

void write_contents(char* block, uint64_t bytes, uint64_t usable, uint32_t key, enum fill fill) {
  struct part parts[2];
  uint64_t written = 0;
  if (fill == kFillZeros) memset(block, 0, bytes);
  for (uint64_t at = key % kSpan; fill == kFillBytePerPage && at < bytes; at += kSpan) block[at] = byte_at(key, at);
  for (int i = parts_of(fill, fill == kFillUsable ? usable : bytes, parts) - 1; i >= 0; --i) {
    write_part(block, parts[i], key);
    written += parts[i].to - parts[i].from;
  }
  count(&head->written_bytes, fill == kFillZeros ? bytes : written);
}

/* Verifies a block of which the program wrote one byte in each page. */
static int64_t verify_stride(const char* block, uint64_t limit, struct contents contents) {
  uint64_t zeros_from = 0;
  for (uint64_t at = contents.key % kSpan; at < limit; at += kSpan) {
    const int64_t found = contents.zero ? read_nonzero(block, zeros_from, at) : kAllRight;
    if (found >= 0) return found;
    if (block[at] != byte_at(contents.key, at)) return (int64_t)at;
    zeros_from = at + 1;
  }
  return contents.zero ? read_nonzero(block, zeros_from, limit) : kAllRight;
}

int64_t verify_contents(const char* block, uint64_t bytes, uint64_t limit, struct contents contents) {
  struct part parts[2];
  if (contents.fill == kFillZeros) return first_nonzero(block, 0, limit);
  if (contents.fill == kFillBytePerPage) return verify_stride(block, limit, contents);
  const int count_of_parts = parts_of(contents.fill, bytes, parts);
  uint64_t zeros_from = 0;
  for (int i = 0; i < count_of_parts; ++i) {
    if (parts[i].from > limit) parts[i].from = limit;
    if (parts[i].to > limit) parts[i].to = limit;
    int64_t found = contents.zero ? first_nonzero(block, zeros_from, parts[i].from) : kAllRight;
    if (found < 0) found = verify_part(block, parts[i], contents.key);
    if (found >= 0) return found;
    zeros_from = parts[i].to;
  }
  return contents.zero ? first_nonzero(block, zeros_from, limit) : kAllRight;
}
