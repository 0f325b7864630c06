/* Eight bytes behind each request hold a canary that free checks. These bytes are not part of the usable size. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { kCanary = 8 };

static uint64_t canary_of(const struct block* given) { return (uintptr_t)given * UINT64_C(0x9E3779B97F4A7C15) | 1; }

size_t needed(size_t bytes) { return bytes + kCanary; }
size_t usable(const struct block* block) { return block->asked; }

void handed_out(struct block* block, struct block* given) {
  const uint64_t canary = canary_of(given);
  if (block->dirty < block->asked + kCanary) block->dirty = block->asked + kCanary;
  memcpy(data_of(given) + given->asked, &canary, kCanary);
}

void freed(struct block* block, struct block* given) {
  uint64_t found = 0;
  (void)block;
  memcpy(&found, data_of(given) + given->asked, kCanary);
  if (found != canary_of(given)) abort();
}

bool resize(struct block* block, size_t bytes) {
  if (bytes > block->capacity - kCanary || bytes < block->capacity / 2) return false;
  if (is_large(block)) return bytes > kMostSmall && resize_large(block, bytes);
  block->asked = bytes;
  return true;
}
